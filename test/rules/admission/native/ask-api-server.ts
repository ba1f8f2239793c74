import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { AdmissionWorld } from '../../../../src/admission/admission/admission-request.ts'
import { evaluateNative } from '../../../../src/admission/admission/native-engine.ts'
import { kindOf } from '../../../../src/fleet/facts/object-table.ts'
import type { Json } from '../../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../../src/kube/object.ts'
import { authorizerOf } from '../../../../src/kube/rbac/authorizer.ts'
import { userInfo } from '../../../../src/kube/rbac/policy-rule.ts'
import { resourceOf } from '../../../../src/kube/rbac/resources.ts'
import { startCluster, type TestCluster } from '../../../../tools/envtest/start.ts'
import { plainObject } from '../../../base/kube/rbac/plain-object.ts'
import { Draw, NAMESPACES, type Question, USERS } from './random-questions.ts'

type Fields = { [key: string]: Json }

const BINDINGS: readonly Fields[] = USERS.slice(0, 2).map((user, index) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: index === 0 ? 'ClusterRoleBinding' : 'RoleBinding',
  metadata: { name: `given-${index}`, ...(index === 0 ? {} : { namespace: 'other' }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', name: user.split(':')[3]!, namespace: user.split(':')[2]! }],
}))
const APPLY_ALL: readonly Fields[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'everything' },
    rules: [
      {
        apiGroups: ['', 'apps', 'rbac.authorization.k8s.io'],
        resources: ['*'],
        verbs: ['get', 'create', 'patch', 'delete', 'escalate', 'bind'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'everything' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'everything' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts' }],
  },
]
const PARAMS: Fields = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'params', namespace: 'apps', labels: { params: 'yes' } },
  data: { limit: '10' },
}

interface Comparison {
  readonly asked: number
  readonly different: readonly string[]
  readonly notEvaluated: readonly string[]
  /** Policies that the API server does not take: their expressions have no types that fit. */
  readonly refusedPolicies: number
  readonly denials: number
}

/** Asks a real API server and us `count` questions, each of one policy, by dry run as the account. */
export async function compareWithApiServer(count: number, seed: number): Promise<Comparison> {
  const cluster = await startCluster({ workerRbac: false })
  try {
    return await compare(cluster, count, seed)
  } finally {
    await cluster.stop()
  }
}

const POLICIES_AT_ONCE = 40

async function compare(cluster: TestCluster, count: number, seed: number): Promise<Comparison> {
  const draw = new Draw(seed)
  const different: string[] = []
  const notEvaluated: string[] = []
  let [asked, refusedPolicies, denials] = [0, 0, 0]
  const standing = [...NAMESPACES, ...BINDINGS, ...APPLY_ALL, PARAMS]
  for (const object of standing) await must(cluster, object)
  for (let round = 0; asked < count; round++) {
    const policies: Fields[] = []
    for (let index = 0; index < POLICIES_AT_ONCE; index++) {
      const [policy, binding] = draw.policy(`p${round}-${index}`)
      if ((await apply(cluster, policy!)).status >= 300) refusedPolicies++
      else policies.push(policy!, binding!)
      if (policies.at(-1) === binding) await must(cluster, binding!)
    }
    await untilActive(cluster, round)
    const world = worldOf([...standing, ...policies])
    const names = policies
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      .map(one => (one.metadata as Fields).name as string)
    for (let index = 0; index < 25 && asked < count; index++) {
      const question = draw.question()
      const said = await ask(cluster, question)
      if (!said) continue
      const { findings, notEvaluated: unclear } = evaluateNative(world, requestOf(question))
      for (const name of names) {
        asked++
        const [theirs, ours] = [said.has(name), findings.some(one => one.policy.name === name)]
        const why = unclear.find(one => one.policy.name === name)?.why
        if (theirs) denials++
        const text = () =>
          JSON.stringify({
            policy: policies.filter(one => JSON.stringify(one).includes(`"${name}"`)),
            question,
            theirs: said.get(name) ?? 'allowed',
            ours: findings.find(one => one.policy.name === name)?.message ?? 'allowed',
          })
        if (why !== undefined) notEvaluated.push(`${why} ${theirs}`)
        else if (theirs !== ours) different.push(text())
      }
    }
    for (const one of policies) await cluster.request('DELETE', pathOf(one))
  }
  return { asked, different, notEvaluated, refusedPolicies, denials }
}

const kube = plainObject

function worldOf(objects: readonly Fields[]): AdmissionWorld {
  const all = objects.map(kube)
  const lists = new Map<string, KubeObject[]>()
  const of = (key: string, has: (one: KubeObject) => boolean) => {
    const known = lists.get(key) ?? all.filter(has)
    lists.set(key, known)
    return known
  }
  const authorizer = authorizerOf(all)
  return {
    policies: kind => of(kind, one => kindOf(one) === kind),
    policiesIn: () => [],
    object: (kind, namespace, name) =>
      of(kind, one => kindOf(one) === kind).find(one => idOf(one).namespace === namespace && idOf(one).name === name),
    objects: (kind, namespace) =>
      of(
        `${kind} ${namespace}`,
        one => kindOf(one) === kind && (namespace === undefined || idOf(one).namespace === namespace),
      ),
    authorize: (user, asked) => ({ allowed: authorizer.allows(user, asked), reason: '' }),
  }
}

function requestOf({ operation, object, old, user }: Question) {
  const made = kube(object)
  const id = idOf(made)
  return {
    operation,
    object: made,
    id,
    ...(old ? { old: kube(old) } : {}),
    user: userInfo(user),
    resource: resourceOf(id.apiVersion, id.kind, new Map()),
    isNamespaced: id.namespace !== '',
  }
}

function pathOf(object: Fields): string {
  const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: Fields }
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  return `${root}${namespace}/${resourceOf(apiVersion, kind, new Map())}/${metadata.name}`
}

const APPLY = '?fieldManager=kustomize-controller&force=true'
const apply = (cluster: TestCluster, object: Fields) =>
  cluster.request('PATCH', `${pathOf(object)}${APPLY}`, object, { contentType: 'application/apply-patch+yaml' })

async function must(cluster: TestCluster, object: Fields): Promise<void> {
  const { status, body } = await apply(cluster, object)
  if (status >= 300) throw new Error(`${pathOf(object)}: ${status} ${JSON.stringify(body)}`)
}

/** The policies of a round are active when a canary, made last, answers. */
async function untilActive(cluster: TestCluster, round: number): Promise<void> {
  const name = `canary-${round}`
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['configmaps'],
    resourceNames: [name],
  }
  await must(cluster, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false', message: 'canary' }] },
  })
  await must(cluster, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Warn'] },
  })
  const question: Question = {
    operation: 'CREATE',
    user: USERS[0]!,
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'apps' } },
  }
  while (!(await ask(cluster, question))?.has(name)) await new Promise(resolve => setTimeout(resolve, 200))
  // the caches of policies and bindings are filled in the order of their making
  await new Promise(resolve => setTimeout(resolve, 1_500))
}

/** What policies warn of, by policy; undefined where the API server refuses for another reason. */
async function ask(
  cluster: TestCluster,
  { operation, object, old, user }: Question,
): Promise<Map<string, string> | undefined> {
  const before = operation === 'DELETE' ? object : old
  await gone(cluster, object)
  if (before && (await apply(cluster, before)).status >= 300) return undefined
  const path = `${pathOf(object)}${operation === 'DELETE' ? '?dryRun=All' : `${APPLY}&dryRun=All`}`
  const { status, warnings } = await send(
    cluster,
    operation === 'DELETE' ? 'DELETE' : 'PATCH',
    path,
    operation === 'DELETE' ? undefined : object,
    user,
  )
  if (before) await remove(cluster, before)
  if (status >= 300) return undefined
  const found = new Map<string, string>()
  for (const [, name = '', said = ''] of warnings.matchAll(
    /Validation failed for ValidatingAdmissionPolicy '([^']+)' with binding '[^']+': (.*?)(?=", 299|"$|$)/g,
  ))
    found.set(name, said)
  return found
}

/** Deletes what an earlier question left, and waits until it is gone. */
async function gone(cluster: TestCluster, object: Fields): Promise<void> {
  while ((await cluster.request('GET', pathOf(object))).status !== 404) {
    await remove(cluster, object)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

async function remove(cluster: TestCluster, object: Fields): Promise<void> {
  const path = pathOf(object)
  await cluster.request('DELETE', `${path}?gracePeriodSeconds=0`)
  // no controller runs here that would empty it and let it go
  if (object.kind === 'Namespace')
    await cluster.request('PUT', `${path}/finalize`, { ...object, spec: { finalizers: [] } })
}

function send(
  cluster: TestCluster,
  method: string,
  path: string,
  body: Json | undefined,
  user: string,
): Promise<{ status: number; warnings: string }> {
  const config = readFileSync(cluster.adminKubeconfig, 'utf8')
  const ca = Buffer.from(/certificate-authority-data"?: "?([^"\s,]+)/.exec(config)![1]!, 'base64')
  const token = /token"?: "?([^"\s,}]+)/.exec(config)![1]!
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/apply-patch+yaml',
    'Impersonate-User': user,
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${cluster.url}${path}`, { method, headers, ca }, response => {
      response.resume()
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, warnings: String(response.headers.warning ?? '') }),
      )
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
