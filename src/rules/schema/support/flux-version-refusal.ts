import { fluxKind, fluxMinor, fluxVersions, NEWEST_FLUX } from '../../../flux/kinds.ts'
import { groupOf, type ObjectId } from '../../../kube/object.ts'
import { type Message, message, part } from '../../../message/message.ts'
import type { SchemaAnswer } from '../../../schema/check-object.ts'

/**
 * What Flux's own definitions say of the API version of an object, where the fleet does not render them: that a version of Flux,
 * or none at all, serves it. Undefined where it is served, or where that is not known. `version`: of the cluster's Flux.
 */
export function fluxVersionRefusal(
  { apiVersion, kind }: ObjectId,
  version: string | undefined,
): { readonly answer: SchemaAnswer; readonly server: Message; readonly isCertain: boolean } | undefined {
  const group = groupOf(apiVersion)
  const row = fluxKind(`${group}/${kind}`)
  if (!row?.served || !isFlux2(version)) return undefined
  const minor = fluxMinor(version)
  const name = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const [first, last] = Object.hasOwn(row.served, name) ? row.served[name]! : []
  if (fluxVersions(row, minor).includes(name)) return undefined
  // a newer Flux than those of the table may serve what they do not
  if (first === undefined && minor !== undefined && minor > NEWEST_FLUX) return undefined
  const names = fluxVersions(row, minor).map(one => `${group}/${one}`)
  const problem = {
    kind: 'unknown-kind',
    path: ['apiVersion'],
    allowed: names.join(', '),
    found: 'a version that is not served',
    names,
    ...(last !== undefined && last < (minor ?? NEWEST_FLUX) ? { until: `2.${last}` } : {}),
    ...(first !== undefined && first > (minor ?? NEWEST_FLUX) ? { since: `2.${first}` } : {}),
  } as const
  const server =
    first === undefined && minor === undefined
      ? message`Flux`
      : message`Flux ${part('value', `2.${minor ?? NEWEST_FLUX}`)}${minor === undefined ? ' (assumed)' : ''}`
  const answer = { problems: [problem], count: 1, isKnown: true }
  return { answer, server, isCertain: minor !== undefined || first === undefined }
}

/** Nothing is known of other major versions, nor of a version that is not a number. */
const isFlux2 = (version: string | undefined) => version === undefined || /^\D*2(?:\D|$)/.test(version)
