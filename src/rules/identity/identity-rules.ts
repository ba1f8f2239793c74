import type { Rule } from '../model/rule.ts'
import { controllerRights } from './controller-rights.ts'
import { defaultSaPrivileged } from './default-sa-privileged.ts'
import { identityObjectTamper } from './identity-object-tamper.ts'
import { kubeconfigContent } from './kubeconfig-content.ts'
import { kubeconfigRef } from './kubeconfig-ref.ts'
import { saForeign } from './sa-foreign.ts'
import { saRequired } from './sa-required.ts'
import { saTokenSecret } from './sa-token-secret.ts'
import { unconfinedSource } from './unconfined-source.ts'
import { workloadIdentityAnnotation } from './workload-identity-annotation.ts'
import { workloadUsesReconcilerSa } from './workload-uses-reconciler-sa.ts'

/** Whose account acts. */
export const identityRules: readonly Rule[] = [
  controllerRights,
  defaultSaPrivileged,
  identityObjectTamper,
  kubeconfigContent,
  kubeconfigRef,
  saForeign,
  saRequired,
  saTokenSecret,
  unconfinedSource,
  workloadIdentityAnnotation,
  workloadUsesReconcilerSa,
]
