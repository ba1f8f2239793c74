import type { Rule } from '../model/rule.ts'
import { kustomizeCaseVariantKey } from './kustomize-case-variant-key.ts'
import { kustomizeHelmInflate } from './kustomize-helm-inflate.ts'
import { kustomizeMultipleFiles } from './kustomize-multiple-files.ts'
import { kustomizePathEscape } from './kustomize-path-escape.ts'
import { kustomizePlugin } from './kustomize-plugin.ts'
import { kustomizeRemoteBase } from './kustomize-remote-base.ts'
import { kustomizeSymlink } from './kustomize-symlink.ts'
import { protoPollution } from './proto-pollution.ts'
import { renderLimits } from './render-limits.ts'
import { renderParity } from './render-parity.ts'
import { substitutionInjection } from './substitution-injection.ts'
import { unicodeConfusable } from './unicode-confusable.ts'
import { unrenderedVariable } from './unrendered-variable.ts'
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
  protoPollution,
  renderParity,
  substitutionInjection,
  unicodeConfusable,
  unrenderedVariable,
  yamlAmbiguous,
  yamlEncoding,
]
