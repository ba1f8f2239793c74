import type { Rule } from '../model/rule.ts'
import { admissionConfig } from './admission-config.ts'
import { crdAdmission } from './crd-admission.ts'
import { helmValuesPrivileged } from './helm-values-privileged.ts'
import { ingressHijack } from './ingress-hijack.ts'
import { networkExposure } from './network-exposure.ts'
import { nodePlacement } from './node-placement.ts'
import { podPriority } from './pod-priority.ts'
import { podSecurity } from './pod-security.ts'

/** What runs, how it is reached, and what decides whether it may. */
export const workloadsRules: readonly Rule[] = [
  admissionConfig,
  crdAdmission,
  helmValuesPrivileged,
  ingressHijack,
  networkExposure,
  nodePlacement,
  podPriority,
  podSecurity,
]
