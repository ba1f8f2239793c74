import type { Rule } from '../rule.ts'
import { kustomizeCaseVariantKey } from './kustomize-case-variant-key.ts'
import { kustomizeHelmInflate } from './kustomize-helm-inflate.ts'
import { kustomizeMultipleFiles } from './kustomize-multiple-files.ts'
import { kustomizePathEscape } from './kustomize-path-escape.ts'
import { kustomizePlugin } from './kustomize-plugin.ts'
import { kustomizeRemoteBase } from './kustomize-remote-base.ts'
import { kustomizeSymlink } from './kustomize-symlink.ts'
import { renderLimits } from './render-limits.ts'
import { yamlAmbiguous } from './yaml-ambiguous.ts'
import { yamlEncoding } from './yaml-encoding.ts'

/** What rendering refuses. */
export const kustomizeRules: readonly Rule[] = [
  kustomizeCaseVariantKey,
  kustomizeHelmInflate,
  kustomizeMultipleFiles,
  kustomizePathEscape,
  kustomizePlugin,
  kustomizeRemoteBase,
  kustomizeSymlink,
  renderLimits,
  yamlAmbiguous,
  yamlEncoding,
]
