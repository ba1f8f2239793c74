import type { Rule } from '../rule.ts'
import { kustomizeCaseVariantKey } from './kustomize-case-variant-key.ts'
import { kustomizeHelmInflate } from './kustomize-helm-inflate.ts'
import { kustomizePathEscape } from './kustomize-path-escape.ts'
import { kustomizePlugin } from './kustomize-plugin.ts'
import { kustomizeRemoteBase } from './kustomize-remote-base.ts'
import { kustomizeSymlink } from './kustomize-symlink.ts'
import { yamlAmbiguous } from './yaml-ambiguous.ts'
import { yamlEncoding } from './yaml-encoding.ts'

/** What rendering refuses. */
export const kustomizeRules: readonly Rule[] = [
  kustomizeCaseVariantKey,
  kustomizeHelmInflate,
  kustomizePathEscape,
  kustomizePlugin,
  kustomizeRemoteBase,
  kustomizeSymlink,
  yamlAmbiguous,
  yamlEncoding,
]
