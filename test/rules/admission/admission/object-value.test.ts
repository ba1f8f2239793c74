import { describe, expect, test } from 'vitest'
import { withKeptDefaults } from '../../../../src/admission/admission/defaults.ts'
import { objectValueIn } from '../../../../src/admission/admission/request-value.ts'
import { PolicyExpression } from '../../../../src/expr/libraries/kubernetes-library.ts'
import type { MapNode } from '../../../../src/kube/node.ts'
import type { KubeObject } from '../../../../src/kube/object.ts'
import { parseDocuments } from '../../../../src/kube/yaml/parse-documents.ts'

const objectOf = (text: string): KubeObject => ({
  root: parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))[0] as MapNode,
  trail: [],
})

/** The value of an expression about an object, or about one that was another before. */
function value(expression: string, text: string, old?: string): unknown {
  const object = objectOf(text)
  const made =
    old === undefined ? objectValueIn({}, object) : withKeptDefaults(objectValueIn({}, object), object, objectOf(old))
  const compiled = PolicyExpression.compile(expression)
  if ('problem' in compiled) return compiled.problem
  const outcome = compiled.evaluate(new Map([['object', made]]))
  return 'value' in outcome ? outcome.value : 'error' in outcome ? outcome.error : `? ${outcome.notEvaluated}`
}

const pod = (container: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, ${container}}]}\n`
const deployment = (container: string) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: a, ${container}}]}}}\n`
const LIMITS = 'image: x, resources: {limits: {memory: 1Gi}}'

describe('an object as a real API server shows it to admission', () => {
  test('limits are the requests of a Pod, and not those of a template', () => {
    expect(value("object.spec.containers[0].resources.requests.memory == '1Gi'", pod(LIMITS))).toBe(true)
    const path = 'object.spec.template.spec.containers[0].resources'
    expect(value(`has(${path}.requests)`, deployment(LIMITS))).toBe(false)
    expect(value(`${path}.limits.memory == '1Gi'`, deployment(LIMITS))).toBe(true)
  })

  test('an integer beyond 2^53 is one, to its last digit', () => {
    const text =
      'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {n: 9007199254740993, list: [9007199254740995]}\n'
    expect(value('type(object.spec.n) == int && object.spec.n == 9007199254740993', text)).toBe(true)
    expect(value('object.spec.list[0] > object.spec.n', text)).toBe(true)
  })

  test('a pull policy that followed from an earlier image is not known', () => {
    const policy = "object.spec.template.spec.containers[0].imagePullPolicy == 'Always'"
    const [latest, tagged] = [deployment('image: nginx'), deployment('image: "nginx:1.27"')]
    expect(value(policy, tagged, latest)).toBe('? imagePullPolicy stays as it was set for an earlier image')
    expect(value(policy, tagged, tagged.replace('1.27', '1.26'))).toBe(false)
    expect(value(policy, latest)).toBe(true)
    expect(value(policy, deployment('image: "nginx:1.27", imagePullPolicy: Always'), latest)).toBe(true)
    expect(value(policy, tagged, latest.replace('name: a', 'name: b'))).toBe(false)
  })
})
