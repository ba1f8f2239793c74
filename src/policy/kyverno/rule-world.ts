import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { selectObjects } from '../admission/stored-objects.ts'
import { apiCallBody } from './api-call.ts'
import type { RuleWorld } from './evaluate-rule.ts'
import { appliedTo, exceptionsFor } from './exceptions.ts'
import { type ContextValue, fromJson, fromNode, NotEvaluatedError, Unknown } from './jmespath/values.ts'
import type { WrittenRule } from './policy-rules.ts'
import { validateCel } from './validate-cel.ts'

const GLOBAL_ENTRY = 'kyverno.io/GlobalContextEntry'

/** The parts of the fleet that a policy rule may read. */
export function ruleWorld(world: AdmissionWorld, rule: WrittenRule, asked: AdmissionRequest): RuleWorld {
  const exceptions = exceptionsFor(world, rule)
  const { policyNamespace } = rule
  return {
    policyNamespace,
    configMap: (namespace, name) => configMapOf(configMapIn(world, namespace, name)),
    apiCall: call => apiCallBody(world, call, policyNamespace),
    globalEntry: name => globalEntry(world, name),
    ...givenTo(world, rule, asked),
    validateCel: one => validateCel(one, world, asked),
    exceptions: (request, context) => appliedTo(exceptions, request, context),
  }
}

const NO_VALUES: RuleWorld['values'] = new Map()

/** Kyverno's command line reads an entry where it has a source for it, and else takes the values of a test. */
function givenTo(
  { given }: AdmissionWorld,
  { policy, writtenName }: WrittenRule,
  { id }: AdmissionRequest,
): Pick<RuleWorld, 'values' | 'isGiven'> {
  if (!given) return { values: NO_VALUES, isGiven: () => false }
  const { name } = idOf(policy)
  const values = given.ruleValues(name, writtenName)
  const names = new Set([...values.keys(), ...given.valuesFor(name, id.name).keys()].map(key => key.split('.')[0]))
  const isRead = (source: string) =>
    source === 'variable' || (given.cluster !== undefined && source !== 'imageRegistry')
  return { values, isGiven: (entry, source) => !isRead(source) && names.has(entry) }
}

function configMapIn({ given, object }: AdmissionWorld, namespace: string, name: string): KubeObject | undefined {
  if (!given) return object('/ConfigMap', namespace, name)
  const query = { apiVersion: 'v1', resource: 'configmaps', namespace, name }
  return selectObjects(given.cluster ?? [], query, given.resourceOf)[0]
}

function configMapOf(object: KubeObject | undefined): ContextValue | undefined {
  if (!object) return undefined
  const [data, metadata] = [at(object.root, ['data']), at(object.root, ['metadata'])]
  const values = object.sealed ? new Unknown('its values are encrypted') : data ? fromNode(data) : null
  return new Map<string, ContextValue>([
    ['data', values],
    ['metadata', metadata ? fromNode(metadata) : new Map()],
  ])
}

function globalEntry(world: AdmissionWorld, name: string): ContextValue {
  const content = world.given?.globalContext(name)
  if (content !== undefined) return fromJson(content)
  const entry = world.object(GLOBAL_ENTRY, '', name)
  if (!entry) throw new NotEvaluatedError(`GlobalContextEntry ${name} is not in the fleet`)
  const resource = stringAt(entry.root, ['spec', 'kubernetesResource', 'resource'])
  const what = resource === undefined ? 'the response of a service' : `all ${resource} of a cluster`
  throw new NotEvaluatedError(`GlobalContextEntry ${name} holds ${what}`)
}
