/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which the shim and a program would notice that they have the toolkit's stub. */
int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);

int cuInit(unsigned int flags) {
  (void)flags;
  return 34;
}

int cuDriverGetVersion(int *version) {
  (void)version;
  return 34;
}
