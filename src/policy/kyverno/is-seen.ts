import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { isMatched } from '../native/is-matched.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import { isKindSelected } from './kind-selector.ts'
import { isAccountExcluded, type KyvernoSettings, kyvernoSettings } from './kyverno-settings.ts'
import type { RuleRequest } from './rule-request.ts'

type Asked = Pick<RuleRequest, 'group' | 'version' | 'kind' | 'namespace' | 'name'>

/** Whether Kyverno's webhooks see a request, by its ConfigMap if the fleet renders one; a text: why that is not known. */
export function isSeen(world: AdmissionWorld, request: AdmissionRequest, asked: RuleRequest): boolean | string {
  const settings = kyvernoSettings(world)
  if (isAccountExcluded(settings, asked)) return false
  return settings.selectors ? isMatched(world, settings.selectors, request) : true
}

/** Whether Kyverno ignores an object because of its resource filters. */
export function isFiltered({ filters }: KyvernoSettings, asked: Asked): boolean {
  return filters.some(filter => isMeant(filter, asked))
}

function isMeant(filter: string, asked: Asked): boolean {
  const [kind = '', namespace = '*', name = '*'] = filter
    .slice(1, -1)
    .split(',')
    .map(part => part.trim())
  if (!isKindSelected(kind, asked)) return false
  if (matchesWildcard(namespace, asked.namespace) && matchesWildcard(name, asked.name)) return true
  return asked.kind === 'Namespace' && asked.group === '' && matchesWildcard(namespace, asked.name)
}
