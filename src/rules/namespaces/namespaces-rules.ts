import type { Rule } from '../model/rule.ts'
import { clusterScopedForbidden } from './cluster-scoped-forbidden.ts'
import { embeddedContent } from './embedded-content.ts'
import { embeddedItems } from './embedded-items.ts'
import { helmPostRenderer } from './helm-post-renderer.ts'
import { invalidObject } from './invalid-object.ts'
import { kindNotEvaluated } from './kind-not-evaluated.ts'
import { namespaceConfinement } from './namespace-confinement.ts'
import { namespaceOwnership } from './namespace-ownership.ts'
import { namespaceProtectedMetadata } from './namespace-protected-metadata.ts'
import { protectedObjectName } from './protected-object-name.ts'
import { targetNamespace } from './target-namespace.ts'
import { tenantRemoved } from './tenant-removed.ts'
import { unknownScope } from './unknown-scope.ts'

/** Where objects lie, and what they are. */
export const namespacesRules: readonly Rule[] = [
  clusterScopedForbidden,
  embeddedContent,
  embeddedItems,
  helmPostRenderer,
  invalidObject,
  kindNotEvaluated,
  namespaceConfinement,
  namespaceOwnership,
  namespaceProtectedMetadata,
  protectedObjectName,
  targetNamespace,
  tenantRemoved,
  unknownScope,
]
