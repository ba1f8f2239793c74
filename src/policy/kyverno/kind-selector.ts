import { matchesWildcard } from './jmespath/wildcard.ts'
import type { RuleRequest } from './rule-request.ts'

const VERSION = /^(?:v\d(?:(?:alpha|beta)\d)?|\*)$/

/** Parses Kyverno's notation of group, version, kind and subresource (ParseKindSelector of pkg/utils/kube). */
function readKind(written: string): readonly [group: string, version: string, kind: string, subresource: string] {
  const parts = written.split('/')
  const [a = '', b = '', c = '', d = ''] = [...parts.slice(0, -1), ...parts.at(-1)!.split('.')]
  const count = parts.length - 1 + parts.at(-1)!.split('.').length
  if (count === 1) return ['*', '*', a, '']
  if (count === 2) {
    if (a === '*' && b === '*') return ['*', '*', '*', '*']
    if (a === '*' && b.toLowerCase() === b) return ['*', '*', '*', b]
    return VERSION.test(a) ? ['*', a, b, ''] : ['*', '*', a, b]
  }
  if (count === 3) return VERSION.test(a) ? ['*', a, b, c] : [a, b, c, '']
  return count === 4 ? [a, b, c, d] : ['', '', '', '']
}

/**
 * The API server converts an object to the version that a webhook requests (matchPolicy: Equivalent), so a rule also applies to older
 * versions of the object. A rule version older than the object's may no longer be served.
 */
const isVersion = (wanted: string, given: string) =>
  matchesWildcard(wanted, given) || (VERSION.test(wanted) && stability(wanted) > stability(given))

/** Orders versions: v1 before v1beta2 before v1alpha1; v2 before v1. */
function stability(version: string): number {
  const [, major = '0', stage, minor = '0'] = /^v(\d{1,3})(?:(alpha|beta)(\d{1,3}))?$/.exec(version) ?? []
  const rank = stage === undefined ? 2 : stage === 'beta' ? 1 : 0
  return rank * 1_000_000 + Number(major) * 1_000 + Number(minor)
}

/** Whether a filter's kind selects an object, or a subresource where the request is about one. */
export function isKindSelected(
  written: string,
  asked: Pick<RuleRequest, 'group' | 'version' | 'kind' | 'subresource'>,
): boolean {
  const [group, version, kind, subresource] = readKind(written)
  return (
    matchesWildcard(kind, asked.kind) &&
    matchesWildcard(group, asked.group) &&
    isVersion(version, asked.version) &&
    matchesWildcard(subresource, asked.subresource ?? '')
  )
}
