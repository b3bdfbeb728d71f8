/* A copy that a compiler may put in the place of a call; the control of inlined_copies.py. */
void copy_page(char* to, const char* from);
void copy_page(char* to, const char* from) {
  unsigned long units;
  __asm__ volatile("mov $0x200,%%ecx\n\trep movsq"
                   : "+D"(to), "+S"(from), "=&c"(units)
                   :
                   : "memory");
}
