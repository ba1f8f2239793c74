import type { Rule } from '../rule.ts'
import { clusterScopedForbidden } from './cluster-scoped-forbidden.ts'
import { invalidObject } from './invalid-object.ts'
import { namespaceConfinement } from './namespace-confinement.ts'
import { unknownScope } from './unknown-scope.ts'

/** Where objects lie, and what they are. */
export const namespacesRules: readonly Rule[] = [
  clusterScopedForbidden,
  invalidObject,
  namespaceConfinement,
  unknownScope,
]
