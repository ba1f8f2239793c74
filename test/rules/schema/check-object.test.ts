import { describe, expect, test } from 'vitest'
import { KUBERNETES_VERSIONS } from '../../../src/fleet/config/fleet-shape.ts'
import type { MapNode } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { checkObject } from '../../../src/schema/check-object.ts'
import { MAX_PROBLEMS } from '../../../src/schema/type-walk.ts'
import { VERSIONS } from '../../../src/schema/types-table.ts'
import { OBJECTS } from './objects.ts'

const root = (text: string) => parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))[0] as MapNode
const problems = (text: string, version?: number) =>
  checkObject(root(text), version === undefined ? {} : { version }).problems.map(({ kind, path, since, until }) =>
    [kind, path.join('.'), since, until].filter(Boolean).join(' '),
  )
const object = (kind: string, rest: string) => {
  const found = OBJECTS.find(text => text.includes(`kind: ${kind}\n`))!
  expect(found).toBeDefined()
  return `${found}${rest}`
}
const change = (kind: string, from: string, to: string) => {
  const text = object(kind, '')
  expect(text).toContain(from)
  return text.replace(from, to)
}

test.each(OBJECTS.map(text => [/kind: (\w+)/.exec(text)![1]!, text]))('a valid %s has no problem', (_kind, text) => {
  for (const version of VERSIONS) expect(problems(text, version)).toEqual([])
})

describe('what the API server refuses', () => {
  test.each([
    ['a misspelled field', change('Deployment', 'replicas: 2', 'replica: 2'), ['unknown-field spec.replica']],
    [
      'a field at the wrong place',
      change('Pod', 'command:', 'restartPolicies:'),
      ['unknown-field spec.containers.0.restartPolicies'],
    ],
    ['a number for a string', change('ConfigMap', 'a: b', 'a: 1'), ['wrong-type data.a']],
    ['a string for a number', change('Deployment', 'replicas: 2', 'replicas: "2"'), ['wrong-type spec.replicas']],
    ['a fraction', change('Deployment', 'replicas: 2', 'replicas: 2.5'), ['wrong-type spec.replicas']],
    ['more than 32 bits', change('Deployment', 'replicas: 2', 'replicas: 3000000000'), ['wrong-type spec.replicas']],
    ['a text for a boolean', change('ConfigMap', 'immutable: true', 'immutable: "true"'), ['wrong-type immutable']],
    ['a map for a list', change('Role', `rules: [`, 'rules: {a: ').replace(/\]\n$/, '}\n'), ['wrong-type rules']],
    ['a list for a map', change('Service', 'selector: {app: x}', 'selector: [app]'), ['wrong-type spec.selector']],
    [
      'a word that is not allowed',
      change('Pod', 'restartPolicy: Never', 'restartPolicy: never'),
      ['not-allowed spec.restartPolicy'],
    ],
    [
      'a word in a list',
      change('PersistentVolumeClaim', '[ReadWriteOnce]', '[ReadWriteOften]'),
      ['not-allowed spec.accessModes.0'],
    ],
    [
      'a quantity',
      change('PersistentVolumeClaim', 'storage: 1Gi', 'storage: 1 GB'),
      ['bad-format spec.resources.requests.storage'],
    ],
    ['no base64', change('Secret', 'c: aGk=', 'c: aGk'), ['bad-format data.c']],
    [
      'a missing field',
      change('Deployment', '  selector: {matchLabels: {app: x}}\n', ''),
      ['missing-field spec.selector'],
    ],
    [
      'null for a required field',
      change('Deployment', 'selector: {matchLabels: {app: x}}', 'selector:'),
      ['missing-field spec.selector'],
    ],
    [
      'an empty list of containers',
      change('Pod', 'initContainers: [{name: first, image: busybox}]', 'initContainers: [{name: first}]'),
      ['missing-field spec.initContainers.0.image'],
    ],
    [
      'a Job that would restart always',
      change('Job', 'restartPolicy: Never', 'restartPolicy: Always'),
      ['not-allowed spec.template.spec.restartPolicy'],
    ],
    [
      'a Job that does not say',
      change('Job', '      restartPolicy: Never\n', ''),
      ['missing-field spec.template.spec.restartPolicy'],
    ],
    ['two ports of one protocol', change('Service', 'protocol: UDP', 'protocol: TCP'), ['duplicate spec.ports.1']],
    ['two ports, one with the default protocol', change('Service', ', protocol: UDP', ''), ['duplicate spec.ports.1']],
    [
      'a variable twice',
      change('Pod', 'name: B, valueFrom', 'name: A, valueFrom'),
      ['duplicate spec.containers.0.env.1'],
    ],
    [
      'an API version of the past',
      'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x}\n',
      ['unknown-kind apiVersion 1.24'],
    ],
    [
      'a group of the past',
      'apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: x}\n',
      ['unknown-kind apiVersion 1.21'],
    ],
    [
      'a kind of the past',
      'apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: x}\n',
      ['unknown-kind apiVersion 1.24'],
    ],
  ])('%s', (_what, text, expected) => {
    expect(problems(text)).toEqual(expected)
  })
})

describe('what it accepts, and what nobody knows', () => {
  test.each([
    ['null for an optional field', change('Deployment', 'replicas: 2', 'replicas:')],
    ['a number for a quantity', change('ResourceQuota', 'requests.cpu: 2', 'requests.cpu: 2.5')],
    ['a text for a port', change('Ingress', 'number: 80', 'name: http')],
    ['an empty word', change('Pod', 'imagePullPolicy: IfNotPresent', 'imagePullPolicy: ""')],
    ['what SOPS encrypted', change('Secret', 'c: aGk=', 'c: "ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]"')],
    ['an incomplete status', change('HorizontalPodAutoscaler', 'spec:', 'status: {conditions: []}\nspec:')],
  ])('%s', (_what, text) => {
    expect(problems(text)).toEqual([])
  })

  test('a custom kind is not compared, a kind of a newer version is refused unless the version is assumed', () => {
    const custom = 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nspec: {anything: 1}\n'
    expect(checkObject(root(custom))).toEqual({ problems: [], count: 0, isKnown: false })
    const newer = 'apiVersion: lifecycle.k8s.io/v1alpha1\nkind: Eviction\nmetadata: {name: x}\n'
    expect(checkObject(root(newer), { version: 36 }).problems).toMatchObject([{ kind: 'unknown-kind', since: '1.37' }])
    expect(checkObject(root(newer), { version: 36, isAssumed: true }).isKnown).toBe(false)
    expect(checkObject(root(newer), { version: 37 }).isKnown).toBe(true)
  })

  test('a field counts from the version that brought it on', () => {
    const text = change('Pod', 'imagePullPolicy: IfNotPresent', 'restartPolicyRules: []')
    expect(problems(text, 33)).toEqual(['unknown-field spec.containers.0.restartPolicyRules 1.34'])
    expect(problems(text, 34)).toEqual([])
  })
})

test('more problems than are listed are counted', () => {
  const labels = (count: number) => Array.from({ length: count }, (_, index) => `  k${index}: 1`).join('\n')
  const map = (count: number) =>
    checkObject(root(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n${labels(count)}\n`))
  expect(map(MAX_PROBLEMS)).toMatchObject({ count: MAX_PROBLEMS })
  const past = map(MAX_PROBLEMS + 1)
  expect([past.problems.length, past.count]).toEqual([MAX_PROBLEMS, MAX_PROBLEMS + 1])
})

test('keys like those of JavaScript objects are keys like others', () => {
  const text =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nconstructor: 1\n__proto__: 2\nhasOwnProperty: {}\n'
  expect(problems(text)).toEqual(['constructor', '__proto__', 'hasOwnProperty'].map(key => `unknown-field ${key}`))
})

test('the block of SOPS is gone where the Kustomization decrypts, and refused where it does not', () => {
  const text = `${object('Secret', '')}sops: {mac: "ENC[AES256_GCM,data:x]", age: []}\n`
  expect(problems(text)).toEqual(['unknown-field sops'])
  expect(checkObject(root(text), { isDecrypted: true }).count).toBe(0)
  expect(checkObject(root(text.replace('mac:', 'mack:')), { isDecrypted: true }).count).toBe(1)
})

test('the versions that a fleet may declare are those of the table', () => {
  expect(KUBERNETES_VERSIONS).toEqual(VERSIONS.map(version => `1.${version}`))
})
