import { matchesWildcard } from './jmespath/wildcard.ts'
import type { RuleRequest } from './rule-request.ts'

const VERSION = /^(?:v\d(?:(?:alpha|beta)\d)?|\*)$/

/** Group, version, kind and subresource of a kind as Kyverno writes it (ParseKindSelector of pkg/utils/kube). */
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

/** Whether a kind of a filter is that of an object; requests for subresources are none that Flux makes. */
export function isKindSelected(written: string, asked: Pick<RuleRequest, 'group' | 'version' | 'kind'>): boolean {
  const [group, version, kind, subresource] = readKind(written)
  return (
    matchesWildcard(kind, asked.kind) &&
    matchesWildcard(group, asked.group) &&
    matchesWildcard(version, asked.version) &&
    matchesWildcard(subresource, '')
  )
}
