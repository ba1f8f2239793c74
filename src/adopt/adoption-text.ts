import { codeSpan } from '../onboard/code-span.ts'
import type { AdoptionPlan } from './adoption.ts'
import type { FleetChange } from './fleet-change.ts'

/** More lines of one list are counted only. */
const MAX_LINES = 50

/** The pull request of an adoption. */
export function adoptionText(name: string, { files, proven, loud, left, account }: AdoptionPlan): FleetChange {
  const objects = proven.reduce((sum, one) => sum + one.objects, 0)
  const body = [
    `Moves ${codeSpan(name)} from cluster-admin to the account ${codeSpan(account)} with the least rights that cover what is rendered today.`,
    `### Proven\n\nThe result was rendered and evaluated: all ${objects} objects of ${proven.length} Kustomizations are still allowed.\n\n${list(
      proven.map(one => `${codeSpan(one.key)}: ${one.objects} objects, ${one.requests} requests`),
    )}`,
    ...(loud.length > 0 ? [`### ⚠️ Rights beyond its namespaces\n\n${list(loud.map(codeSpan))}`] : []),
    ...(left.length > 0 ? [`### Unchanged\n\n${list(left.map(codeSpan))}`] : []),
    'A kind of object that is new in git needs a new rule in its role.',
  ].join('\n\n')
  return { files, title: `Apply ${name} with the least rights`, body, slug: `adopt-${name}` }
}

/** A Markdown list. */
export function list(lines: readonly string[]): string {
  const shown = lines.slice(0, MAX_LINES).map(line => `- ${line}`)
  return [...shown, ...(lines.length > MAX_LINES ? [`- and ${lines.length - MAX_LINES} more`] : [])].join('\n')
}
