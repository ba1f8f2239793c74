import type { Node } from '../../../kube/node.ts'

const FORM = /^([0-9]{1,18}(?:\.[0-9]{1,9})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/
const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['m', 1e-3],
  ...['k', 'M', 'G', 'T', 'P', 'E'].map((unit, index): [string, number] => [unit, 1000 ** (index + 1)]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((unit, index): [string, number] => [unit, 1024 ** (index + 1)]),
])

/** A quantity of Kubernetes as a number; undefined for other spellings, which are only compared as text. */
export function readQuantity(node: Node | undefined): number | undefined {
  if (node?.type !== 'scalar') return undefined
  const [, digits, unit = ''] = FORM.exec(String(node.value)) ?? []
  return digits === undefined ? undefined : Number(digits) * UNITS.get(unit)!
}
