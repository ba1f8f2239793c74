import type { Step } from '../origin.ts'
import type { Finding } from '../rules/model/finding.ts'

/** Steps behind which the line that wrote a value holds something else than the value of the field. */
const MADE: ReadonlySet<Step['step']> = new Set([
  'generator',
  'transformer',
  'reference',
  'replacement',
  'substitution',
  'local-config',
])

/**
 * The field at the line that wrote the value of a finding, as a JSON pointer: `/spec/targetNamespace` of a Kustomization, where that
 * sets the namespace of an object. Undefined where the line holds something else than the value, such as a variable.
 */
export function writtenField({ field, via }: Pick<Finding, 'field' | 'via'>): string | undefined {
  if (via[0]?.step === 'flux-target-namespace') return '/spec/targetNamespace'
  return via.some(({ step }) => MADE.has(step)) ? undefined : field
}
