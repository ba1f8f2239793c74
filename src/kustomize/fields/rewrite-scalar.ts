import { BailiwickError } from '../../errors.ts'
import type { ScalarNode } from '../../kube/node.ts'
import { resolvePlain } from '../../kube/yaml/resolve-scalar.ts'
import type { Origin } from '../../origin.ts'

/**
 * Another text where `before` stands. kustomize keeps how the value was written, so where there were no quotes `12`
 * becomes a number. Throws `kustomize-unsupported` for a text that is no value then.
 */
export function rewriteScalar(before: ScalarNode | undefined, text: string, origin: Origin): ScalarNode {
  if (before?.quoted) return { type: 'scalar', value: text, origin, quoted: true }
  if (before?.style) return { type: 'scalar', value: text, origin, style: before.style }
  const value = resolvePlain(text)
  if (value === undefined) {
    throw new BailiwickError('kustomize-unsupported', `${JSON.stringify(text)}: not a valid YAML value`, { origin })
  }
  // until the object is written, what will be null is a text for kustomize
  if (value === null) return { type: 'scalar', value: text, origin, untyped: true }
  return { type: 'scalar', value, origin, untyped: true, ...(String(value) === text ? {} : { text }) }
}
