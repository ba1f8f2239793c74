import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { PolicyExpression } from '../../../../src/expr/libraries/kubernetes-library.ts'
import type { Json } from '../../../../src/kube/node.ts'
import { startCluster, type TestCluster } from '../../../../tools/envtest/start.ts'
import { HOSTILE_EXPRESSIONS } from './hostile-expressions.ts'
import { HOSTILE_TEXTS } from './hostile-values.ts'

interface HostileComparison {
  readonly asked: number
  readonly different: readonly string[]
  readonly notEvaluated: readonly string[]
  /** Expressions that the API server does not take. */
  readonly refused: readonly string[]
}

const API = '/apis/admissionregistration.k8s.io/v1'
const APPLY = '?fieldManager=test&force=true'
const TYPE = { contentType: 'application/apply-patch+yaml' }

/** The API server shortens a list of many warnings: some policies are asked at once, those of one name of the object. */
const groupOf = (index: number): string => `g${Math.floor(index / 8)}`

/** Asks a real API server and us what each expression says of each text: true, false, or an error. */
export async function compareHostile(texts: readonly string[] = HOSTILE_TEXTS): Promise<HostileComparison> {
  const cluster = await startCluster({ workerRbac: false })
  try {
    return await compare(cluster, texts)
  } finally {
    await cluster.stop()
  }
}

async function compare(cluster: TestCluster, texts: readonly string[]): Promise<HostileComparison> {
  const refused: string[] = []
  const asked = new Map<string, string>()
  const all = [...HOSTILE_EXPRESSIONS, 'false']
  for (const [index, expression] of all.entries()) {
    const why = await install(
      cluster,
      `p${index}`,
      groupOf(index),
      expression.replaceAll(/\bx\b(?!')/g, 'object.data.x'),
    )
    if (why === undefined) asked.set(`p${index}`, expression)
    else refused.push(`${expression}: ${why.slice(0, 300)}`)
  }
  // the last one answers when all are active
  const last = `p${all.length - 1}`
  while (!(await warnings(cluster, groupOf(all.length - 1), 'a')).has(last))
    await new Promise(resolve => setTimeout(resolve, 200))
  await new Promise(resolve => setTimeout(resolve, 1_500))
  const different: string[] = []
  const notEvaluated: string[] = []
  for (const text of texts) {
    const groups = [...new Set(all.map((_, index) => groupOf(index)))]
    const theirs = new Map(
      (await Promise.all(groups.map(group => warnings(cluster, group, text)))).flatMap(one => [...one]),
    )
    for (const [name, expression] of asked) {
      const ours = outcome(expression, text)
      const said = theirs.get(name)
      const kind = said === undefined ? 'true' : said.startsWith('expression ') ? 'error' : 'false'
      if (ours.startsWith('?'))
        notEvaluated.push(`${expression} ${JSON.stringify(text.slice(0, 60))}: ${ours} (${kind})`)
      else if (ours !== kind)
        different.push(`${expression} ${JSON.stringify(text.slice(0, 60))}: ours ${ours}, theirs ${said ?? kind}`)
    }
  }
  return { asked: asked.size * texts.length, different, notEvaluated, refused }
}

function outcome(expression: string, x: string): string {
  const compiled = PolicyExpression.compile(expression)
  if ('problem' in compiled) return `? ${compiled.problem}`
  const made = compiled.evaluate(new Map([['x', x]]))
  if ('notEvaluated' in made) return `? ${made.notEvaluated}`
  return 'error' in made ? 'error' : String(made.value)
}

/** Why the API server does not take the policy; undefined where it does. */
async function install(
  cluster: TestCluster,
  name: string,
  group: string,
  expression: string,
): Promise<string | undefined> {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['configmaps'],
    resourceNames: [group],
  }
  const kind = 'ValidatingAdmissionPolicy'
  const put = (plural: string, object: Json) =>
    cluster.request('PATCH', `${API}/${plural}/${name}${APPLY}`, object, TYPE)
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const { status, body } = await put('validatingadmissionpolicies', {
    ...{ apiVersion, kind, metadata: { name } },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression, message: 'is false' }] },
  })
  if (status >= 300) return JSON.stringify(body)
  await put('validatingadmissionpolicybindings', {
    ...{ apiVersion, kind: `${kind}Binding`, metadata: { name } },
    spec: { policyName: name, validationActions: ['Warn'] },
  })
  return undefined
}

/** What policies warn of when a ConfigMap holds a text, by policy. */
async function warnings(cluster: TestCluster, name: string, x: string): Promise<Map<string, string>> {
  const object: Json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x } }
  const config = readFileSync(cluster.adminKubeconfig, 'utf8')
  const ca = Buffer.from(/certificate-authority-data"?: "?([^"\s,]+)/.exec(config)![1]!, 'base64')
  const token = /token"?: "?([^"\s,}]+)/.exec(config)![1]!
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All'
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const options = { method: 'POST', headers, ca, maxHeaderSize: 1_000_000 }
    const sent = request(`${cluster.url}${path}`, options, response => {
      response.resume()
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: String(response.headers.warning ?? '') }),
      )
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(object))
  })
  if (answer.status >= 300) throw new Error(`${answer.status} for ${JSON.stringify(x.slice(0, 60))}`)
  const found = new Map<string, string>()
  for (const [, name = '', said = ''] of answer.text.matchAll(
    /Validation failed for ValidatingAdmissionPolicy '([^']+)' with binding '[^']+': (.*?)(?=", 299|"$|$)/g,
  ))
    found.set(name, said)
  return found
}
