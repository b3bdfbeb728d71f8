// Between the auditor of calls and the program that it counts them of.
#pragma once

inline constexpr const char* kCallAuditBegin = "call-audit-begin";
inline constexpr const char* kCallAuditEnd = "call-audit-end";
