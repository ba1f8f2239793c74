import type { GivenInputs } from '../../../src/admission/admission/admission-request.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { type CustomPlurals, resourceOf } from '../../../src/kube/rbac/resources.ts'
import type { PolicyTest } from './test-file.ts'
import type { TestValues } from './test-values.ts'

/** What a test's files contain. */
export interface TestContent {
  readonly values: TestValues
  readonly contextResources: readonly KubeObject[]
  readonly cluster: readonly KubeObject[] | undefined
  readonly images: ReadonlyMap<string, Json>
  readonly globalContext: ReadonlyMap<string, Json>
}

/** The inputs of a test as policies read them. `objects`: of its files, which a cluster has too where the test has one. */
export function inputsOf(
  { responses }: PolicyTest,
  { values, contextResources, cluster, images, globalContext }: TestContent,
  objects: readonly KubeObject[],
  plurals: CustomPlurals,
): GivenInputs {
  return {
    valuesFor: (policy, object) => valuesFor(values, policy, object),
    ruleValues: (policy, rule) => ruleValues(values, policy, rule),
    resources: [...contextResources, ...(cluster ?? [])],
    resourceOf: (apiVersion, kind) => resourceOf(apiVersion, kind, plurals),
    cluster: cluster && [...objects, ...cluster],
    response: (method, url) =>
      responses.findLast(one => one.url === url && one.method === method) ??
      responses.findLast(one => one.url === url && one.method === ''),
    globalContext: name => globalContext.get(name),
    image: reference => images.get(reference),
  }
}

/** The values of every policy, and of one policy for an object. */
export function valuesFor(
  { globals, policies }: TestValues,
  policy: string,
  object: string,
): ReadonlyMap<string, Json> {
  const own = policies.filter(one => one.policy === policy).flatMap(one => one.resources)
  return new Map([...globals, ...own.filter(([name]) => name === object).flatMap(([, values]) => [...values])])
}

/** The first rule of that name; a name may be that of a rule which Kyverno generates. */
function ruleValues({ policies }: TestValues, policy: string, rule: string): ReadonlyMap<string, Json> {
  for (const { rules } of policies.filter(one => one.policy === policy)) {
    const found = rules.find(([name]) => name === rule)
    if (found) return found[1]
  }
  return NONE
}

const NONE: ReadonlyMap<string, Json> = new Map()
