// Names by which the auditor of calls and the program that it audits find each other.
#pragma once

inline constexpr const char* kCallAuditBegin = "call-audit-begin";
inline constexpr const char* kCallAuditEnd = "call-audit-end";
