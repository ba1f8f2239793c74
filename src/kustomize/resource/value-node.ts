import type { ScalarNode } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { checkCharacters } from './round-trip.ts'
import { isTextForOldYaml } from './text-for-old-yaml.ts'

/**
 * A text that kustomize puts into an object: in a block where it has lines, in quotes where YAML 1.1 would not read it
 * as text (kyaml's FieldSetter). Throws `kustomize-unsupported` for what `checkCharacters` refuses.
 */
export function valueNode(value: string, origin: Origin): ScalarNode {
  checkCharacters(value, origin)
  if (!value.includes('\n')) {
    return { type: 'scalar', value, origin, ...(isTextForOldYaml(value) ? {} : { quoted: true }) }
  }
  return { type: 'scalar', value, origin, style: 'literal' }
}
