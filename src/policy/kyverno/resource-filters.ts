import { stringAt } from '../../kube/node.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'
import { isKindSelected } from './kind-selector.ts'
import type { RuleRequest } from './rule-request.ts'

/** Default namespace of Kyverno and its ConfigMap. */
const KYVERNO = 'kyverno'

/** Kyverno's default resource filters (charts/kyverno/values.yaml). */
const DEFAULTS = [
  ...['Event', 'Node', 'APIService', 'TokenReview', 'SubjectAccessReview', 'SelfSubjectAccessReview', 'Binding'],
  ...['ReplicaSet', 'EphemeralReport', 'ClusterEphemeralReport'],
].map(kind => `[${kind},*,*]`)
const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', KYVERNO].map(namespace => `[*/*,${namespace},*]`)

type Asked = Pick<RuleRequest, 'group' | 'version' | 'kind' | 'namespace' | 'name'>

/** Whether Kyverno ignores an object because of `resourceFilters` in its ConfigMap, if the fleet renders one. */
export function isFiltered(world: AdmissionWorld, asked: Asked): boolean {
  const written = stringAt(world.object('/ConfigMap', KYVERNO, KYVERNO)?.root, ['data', 'resourceFilters'])
  const filters = written === undefined ? [...DEFAULTS, ...NAMESPACES] : (written.match(/\[[^\]]*\]/g) ?? [])
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
