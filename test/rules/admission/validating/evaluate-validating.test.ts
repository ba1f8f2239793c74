import { describe, expect, test } from 'vitest'
import type { AdmissionRequest, AdmissionWorld } from '../../../../src/admission/admission/admission-request.ts'
import { evaluateValidating } from '../../../../src/admission/kyverno/validating-engine.ts'
import { kindOf } from '../../../../src/fleet/facts/object-table.ts'
import type { MapNode } from '../../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../../src/kube/object.ts'
import { parseDocuments } from '../../../../src/kube/yaml/parse-documents.ts'

const objectsIn = (text: string): KubeObject[] =>
  parseDocuments({ repository: '', path: 'policies.yaml' }, Buffer.from(text)).map(root => ({
    root: root as MapNode,
    trail: [],
  }))

/** A cluster where the platform renders everything. */
function worldOf(text: string): AdmissionWorld {
  const objects = objectsIn(text)
  const of = (kind: string) => objects.filter(object => kindOf(object) === kind)
  return {
    policies: of,
    policiesIn: (kind, namespace) => of(kind).filter(object => idOf(object).namespace === namespace),
    object: (kind, namespace, name) =>
      of(kind).find(object => idOf(object).namespace === namespace && idOf(object).name === name),
    objects: of,
    authorize: () => ({ allowed: false, reason: '' }),
  }
}

const PLURALS: Readonly<Record<string, string>> = {
  Pod: 'pods',
  Deployment: 'deployments',
  CronJob: 'cronjobs',
  ConfigMap: 'configmaps',
}

function answer(policies: string, object: string, more: Partial<AdmissionRequest> = {}) {
  const [asked] = objectsIn(object)
  const id = idOf(asked!)
  const request: AdmissionRequest = {
    operation: 'CREATE',
    object: asked!,
    id,
    user: { name: 'system:serviceaccount:apps:dev', groups: [] },
    resource: PLURALS[id.kind]!,
    isNamespaced: true,
    ...more,
  }
  return evaluateValidating(worldOf(policies), request)
}
const said = (policies: string, object: string, more?: Partial<AdmissionRequest>) => {
  const { findings, notEvaluated } = answer(policies, object, more)
  return [
    ...findings.map(({ action, message }) => `${action}: ${message}`),
    ...notEvaluated.map(({ why }) => `? ${why}`),
  ]
}

const PODS = '{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}'
const policy = (spec: string, { kind = 'ValidatingPolicy', version = 'v1', namespace = '', rules = PODS } = {}) => `---
apiVersion: policies.kyverno.io/${version}
kind: ${kind}
metadata: {name: ours${namespace && `, namespace: ${namespace}`}}
spec:
  matchConstraints: {resourceRules: [${rules}]}
${spec.replace(/^/gm, '  ')}
`
const HOST_NETWORK = policy(
  `validations: [{expression: "!object.spec.?hostNetwork.orValue(false)", message: no host network in object.spec}]`,
)
const pod = (spec: string, metadata = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: apps${metadata}}\nspec: ${spec}\n`
const deployment = (spec: string, kind = 'Deployment') =>
  kind === 'CronJob'
    ? `apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: apps}\nspec: {jobTemplate: {spec: {template: {metadata: {}, spec: ${spec}}}}}\n`
    : `apiVersion: apps/v1\nkind: ${kind}\nmetadata: {name: d, namespace: apps}\nspec: {template: {metadata: {}, spec: ${spec}}}\n`

describe('a ValidatingPolicy', () => {
  test.each(['v1alpha1', 'v1beta1', 'v1'])('of version %s denies what its expressions refuse', version => {
    const ours = HOST_NETWORK.replace('kyverno.io/v1', `kyverno.io/${version}`)
    expect(answer(ours, pod('{hostNetwork: true}')).findings).toMatchObject([
      {
        policy: { kind: 'ValidatingPolicy', name: 'ours' },
        message: 'no host network in object.spec',
        action: 'deny',
        by: 'Kyverno',
        field: ['spec', 'hostNetwork'],
        origin: { file: 'policies.yaml', line: 7 },
      },
    ])
    expect(said(ours, pod('{hostNetwork: false}'))).toEqual([])
  })

  // its command line gives an object that a request does not have as an empty map
  test.each([
    ['oldObject == null', 'CREATE', ['deny: x']],
    ['oldObject.size() == 0 && !has(oldObject.metadata)', 'CREATE', []],
    ['object == null', 'DELETE', ['deny: x']],
    ['object.size() == 0 && oldObject.metadata.name == "p"', 'DELETE', []],
  ] as const)('%s for %s', (expression, operation, expected) => {
    const rules = '{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [pods]}'
    const ours = policy(`validations: [{expression: '${expression}', message: x}]`, { rules })
    expect(said(ours, pod('{}'), { operation })).toEqual(expected)
  })

  test('says one validation, the first that fails', () => {
    const two = policy(
      'validations:\n- expression: "true"\n- expression: object.metadata.name == "x"\n- {expression: "false", message: later}',
    )
    expect(said(two, pod('{}'))).toEqual(['deny: CEL expression validation failed at index 1'])
    expect(said(two, pod('{}').replace('name: p', 'name: x'))).toEqual(['deny: later'])
  })

  test('warns or audits where it says so, and audits where admission is off', () => {
    const with_ = (more: string) => policy(`${more}\nvalidations: [{expression: "false", message: no}]`)
    expect(said(with_('validationActions: [Warn]'), pod('{}'))).toEqual(['warn: no'])
    expect(said(with_('validationActions: [Audit]'), pod('{}'))).toEqual(['audit: no'])
    expect(said(with_('validationActions: [Audit, Deny]'), pod('{}'))).toEqual(['deny: no'])
    expect(said(with_('evaluation: {admission: {enabled: false}}'), pod('{}'))).toEqual(['audit: no'])
    expect(said(with_('evaluation: {mode: JSON}'), pod('{}'))).toEqual([])
  })

  test('has variables, conditions that see the Namespace, the user and messages that expressions make', () => {
    const namespace = '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: apps, labels: {tier: low}}\n'
    const ours = policy(`matchConditions: [{name: low, expression: "namespaceObject.metadata.labels['tier'] == 'low'"}]
variables: [{name: who, expression: "parseServiceAccount(request.userInfo.username)"}]
validations: [{expression: "variables.who.Name == 'root'", messageExpression: "variables.who.Namespace + ' may not'"}]`)
    expect(said(ours + namespace, pod('{}'))).toEqual(['deny: apps may not'])
    expect(said(ours + namespace.replace('low', 'high'), pod('{}'))).toEqual([])
    const root = { user: { name: 'system:serviceaccount:apps:root', groups: [] } }
    expect(said(ours + namespace, pod('{}'), root)).toEqual([])
  })

  test('an error refuses whatever failurePolicy says; one of a condition follows it', () => {
    const broken = (failure: string) =>
      policy(`failurePolicy: ${failure}\nvalidations: [{expression: object.spec.none.x == 1}]`)
    for (const failure of ['Fail', 'Ignore'])
      expect(said(broken(failure), pod('{}'))).toEqual([
        "deny: expression 'object.spec.none.x == 1' resulted in error: no such key: none",
      ])
    const condition = (failure: string) =>
      policy(
        `failurePolicy: ${failure}\nmatchConditions: [{name: c, expression: object.spec.none == 1}]\nvalidations: [{expression: "false"}]`,
      )
    expect(said(condition('Fail'), pod('{}'))).toEqual(['deny: matchCondition c: no such key: none'])
    expect(said(condition('Ignore'), pod('{}'))).toEqual([])
  })

  test('of one namespace is for that namespace alone', () => {
    const own = policy('validations: [{expression: "false", message: no}]', {
      kind: 'NamespacedValidatingPolicy',
      namespace: 'apps',
    })
    expect(said(own, pod('{}'))).toEqual(['deny: no'])
    expect(said(own, pod('{}').replace('apps', 'other'))).toEqual([])
  })
})

describe('a policy of Pods for controllers of Pods', () => {
  test.each(['Deployment', 'CronJob'])('looks into a %s', kind => {
    expect(said(HOST_NETWORK, deployment('{hostNetwork: true}', kind))).toHaveLength(1)
    expect(said(HOST_NETWORK, deployment('{hostNetwork: false}', kind))).toEqual([])
  })

  test('where it is asked to, and where it is about Pods alone', () => {
    const named = (names: string) =>
      HOST_NETWORK.replace('spec:\n', `spec:\n  autogen: {podControllers: {controllers: [${names}]}}\n`)
    expect(said(named('deployments'), deployment('{hostNetwork: true}'))).toHaveLength(1)
    expect(said(named('cronjobs'), deployment('{hostNetwork: true}'))).toEqual([])
    expect(said(named(''), deployment('{hostNetwork: true}'))).toEqual([])
    const more = HOST_NETWORK.replace('resources: [pods]', 'resources: [pods, services]')
    expect(said(more, deployment('{hostNetwork: true}'))).toEqual([])
    const selecting = HOST_NETWORK.replace('{resourceRules', '{objectSelector: {matchLabels: {a: b}}, resourceRules')
    expect(said(selecting, deployment('{hostNetwork: true}'))).toEqual([])
  })

  test('keeps the namespace of the object', () => {
    const ours = policy(
      `validations: [{expression: "object.metadata.namespace == 'other' || has(object.metadata.labels)"}]`,
    )
    expect(said(ours, deployment('{}'))).toHaveLength(1)
    expect(said(ours, deployment('{}').replace('metadata: {}', 'metadata: {labels: {a: b}}'))).toEqual([])
    expect(said(ours, deployment('{}').replace('namespace: apps', 'namespace: other'))).toEqual([])
  })
})

describe('an exception', () => {
  const exception = (spec: string, kind = 'ValidatingPolicy') => `---
apiVersion: policies.kyverno.io/v1
kind: PolicyException
metadata: {name: some, namespace: apps}
spec: {policyRefs: [{name: ours, kind: ${kind}}], ${spec}}
`
  const NAMED = `matchConditions: [{name: n, expression: "object.metadata.name == 'p'"}]`

  test('takes an object out of the policy that it names', () => {
    const asked = pod('{hostNetwork: true}')
    expect(said(HOST_NETWORK + exception(NAMED), asked)).toEqual([])
    expect(said(HOST_NETWORK + exception(NAMED), asked.replace('name: p', 'name: q'))).toHaveLength(1)
    expect(said(HOST_NETWORK + exception(NAMED, 'ImageValidatingPolicy'), asked)).toHaveLength(1)
    expect(said(HOST_NETWORK + exception(NAMED).replace('name: ours', 'name: others'), asked)).toHaveLength(1)
  })

  test('only hands values to the expressions where it lists some', () => {
    const ours = policy(
      `validations: [{expression: "object.spec.containers.all(c, image(c.image).registry() == 'ghcr.io' || c.image in exceptions.allowedImages)"}]`,
    )
    const listed = exception(`${NAMED}, images: ["docker.io/a/b:1"]`)
    expect(said(ours + listed, pod('{containers: [{image: "docker.io/a/b:1"}]}'))).toEqual([])
    expect(said(ours + listed, pod('{containers: [{image: "docker.io/a/b:2"}]}'))).toHaveLength(1)
    expect(said(ours, pod('{containers: [{image: "docker.io/a/b:1"}]}'))).toHaveLength(1)
    expect(said(ours, pod('{containers: [{image: "ghcr.io/a/b:1"}]}'))).toEqual([])
  })

  test('that ends some day leaves the answer open, only for the object that it exempts', () => {
    const asked = pod('{hostNetwork: true}')
    const ending = exception(`${NAMED}, expiresAt: "2026-05-01T00:00:00Z"`)
    const open = '? a PolicyException with spec.expiresAt exempts the object only until then'
    expect(said(HOST_NETWORK + ending, asked)).toEqual([open])
    const other = said(HOST_NETWORK + ending, asked.replace('name: p', 'name: q'))
    expect(other).toEqual(said(HOST_NETWORK, asked.replace('name: p', 'name: q')))
  })

  test('that depends on what is not known leaves the answer open', () => {
    const open = exception(`matchConditions: [{name: n, expression: "object.metadata.uid == 'x'"}]`)
    expect(said(HOST_NETWORK + open, pod('{hostNetwork: true}'))).toEqual(['? metadata.uid is set by the cluster'])
  })
})

describe('what is outside of the fleet is said by its name', () => {
  test.each([
    ['http.Get("https://a.example.com").ok', 'http.Get needs information from outside the fleet'],
    ['globalContext.Get("a", "") == 1', 'globalContext.Get needs information from outside the fleet'],
    ['image.GetMetadata("a").config == 1', 'image.GetMetadata needs information from outside the fleet'],
    [
      'resource.List("v1", "pods", "apps").items.size() == 0',
      'resource.List: it lists pods, and the fleet does not show all pods of a cluster',
    ],
    ['resource.Get("v1", "secrets", "apps", "a").data == 1', 'resource.Get: secrets/apps/a is not in the fleet'],
    [
      'resource.Get("apps/v1", "deployments", "apps", "a").spec == 1',
      'resource.Get: it reads deployments, to which a cluster adds fields that the fleet does not show',
    ],
    [
      'resource.Get("v1", "configmaps", "apps", "b").data.a == "1"',
      'resource.Get: configmaps/apps/b is not in the fleet',
    ],
    ['time.now() > timestamp("2026-01-01T00:00:00Z")', 'time.now is not supported'],
  ])('%s', (expression, why) => {
    const ours = policy(`validations: [{expression: '${expression}'}]`)
    expect(said(ours, pod('{}'))).toEqual([`? ${why}`])
    expect(said(policy(`validations: [{expression: 'true || ${expression}'}]`), pod('{}'))).toEqual([])
  })

  test('and a function that is not known here', () => {
    const [why] = said(policy(`validations: [{expression: 'sigstore(object.spec)'}]`), pod('{}'))
    expect(why).toContain('the function sigstore is not supported')
  })

  test('a ConfigMap of the fleet is not', () => {
    const map = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: allowed, namespace: apps}\ndata: {name: p}\n'
    const ours = policy(
      `validations: [{expression: 'resource.Get("v1", "configmaps", "apps", "allowed").data.name == object.metadata.name'}]`,
    )
    expect(said(ours + map, pod('{}'))).toEqual([])
    expect(said(ours + map, pod('{}').replace('name: p', 'name: q'))).toHaveLength(1)
  })
})
