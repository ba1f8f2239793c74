import { BailiwickError } from '../../errors.ts'
import type { ScalarNode } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import { isTextForOldYaml } from './text-for-old-yaml.ts'

/**
 * A text that kustomize puts into an object: in a block where it has lines, in quotes where YAML 1.1 would not read it
 * as text (kyaml's FieldSetter). Throws what kustomize cannot read back from what it writes.
 */
export function valueNode(value: string, origin: Origin): ScalarNode {
  checkCharacters(value, origin)
  if (!value.includes('\n')) {
    return { type: 'scalar', value, origin, ...(isTextForOldYaml(value) ? {} : { quoted: true }) }
  }
  if (value.startsWith('\t') && canBeBlock(value)) {
    const message = 'multi-line text starts with a tab, and kustomize cannot read it back'
    throw new BailiwickError('kustomize-invalid', message, { origin })
  }
  return { type: 'scalar', value, origin, style: 'literal' }
}

/** Throws `kustomize-unsupported` for what YAML has to escape and JSON need not: kustomize passes texts through both. */
export function checkCharacters(text: string, origin: Origin): void {
  if (!/[\u007f-\u009f\u2028\u2029\ufffe\uffff]/.test(text)) return
  const message = 'text contains control characters or unusual line breaks, which kustomize rejects or changes'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Remove these characters.' })
}

/** Whether go-yaml writes this as a block: no spaces before a line break or at the end, nothing that needs an escape. */
function canBeBlock(value: string): boolean {
  return !/ (?:\n|$)|[^\t\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(value)
}
