import { saRequired } from './identity/sa-required.ts'
import { kustomizeCaseVariantKey } from './kustomize/kustomize-case-variant-key.ts'
import { kustomizeHelmInflate } from './kustomize/kustomize-helm-inflate.ts'
import { kustomizePathEscape } from './kustomize/kustomize-path-escape.ts'
import { kustomizePlugin } from './kustomize/kustomize-plugin.ts'
import { kustomizeRemoteBase } from './kustomize/kustomize-remote-base.ts'
import { kustomizeSymlink } from './kustomize/kustomize-symlink.ts'
import { yamlAmbiguous } from './kustomize/yaml-ambiguous.ts'
import { yamlEncoding } from './kustomize/yaml-encoding.ts'
import { clusterScopedForbidden } from './namespaces/cluster-scoped-forbidden.ts'
import { namespaceConfinement } from './namespaces/namespace-confinement.ts'
import { crossNamespaceRef } from './references/cross-namespace-ref.ts'
import type { Rule } from './rule.ts'
import { plaintextSecret } from './secrets/plaintext-secret.ts'

/** Every rule that there is, sorted by id; docs/rules.md is generated from it. */
export const rules: readonly Rule[] = [
  clusterScopedForbidden,
  crossNamespaceRef,
  kustomizeCaseVariantKey,
  kustomizeHelmInflate,
  kustomizePathEscape,
  kustomizePlugin,
  kustomizeRemoteBase,
  kustomizeSymlink,
  namespaceConfinement,
  plaintextSecret,
  saRequired,
  yamlAmbiguous,
  yamlEncoding,
]
