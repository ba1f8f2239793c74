import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Json } from '../../src/kube/node.ts'
import { type Authorizer, authorizerOf } from '../../src/kube/rbac/authorizer.ts'
import { compactString, type PolicyRule } from '../../src/kube/rbac/policy-rule.ts'
import { collectionOf, STANDING, urlOf } from '../../test/base/kube/rbac/applied-kinds.ts'
import { type ApplyAnswers, differences } from '../../test/base/kube/rbac/apply-answers.ts'
import { FACTS } from '../../test/base/kube/rbac/apply-facts.ts'
import { inParallel, whyNoCluster } from '../../test/base/kube/rbac/live-cluster.ts'
import { binding, plainObject, role } from '../../test/base/kube/rbac/plain-object.ts'
import { type ApplyQuestion, applyWorld, IN_CIRCLE } from '../../test/base/kube/rbac/random-apply.ts'
import { RECORDED, type RecordedAnswers } from '../../test/base/kube/rbac/recorded-answers.ts'
import type { Answer } from '../envtest/admin-request.ts'
import { kubernetesVersion } from '../envtest/assets.ts'
import { startCluster, type TestCluster } from '../envtest/start.ts'

const USAGE = 'usage: npm run differential:rbac -- [--cases N] [--per-world N] [--seed S] [--show N] [--save]'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
/** Everything but what the API server itself brings. */
const ADDED = 'labelSelector=kubernetes.io/bootstrapping!=rbac-defaults'
const APPLY = { contentType: 'application/apply-patch+yaml' }
const AS_FLUX = 'force=true&fieldManager=kustomize-controller'
/** So long the controller may take to fill in aggregated roles. */
const SETTLED_MS = 10_000
const CIRCLE_MS = 3000
/** So many smaller worlds are tried for each kind of difference. */
const TRIES = 60

interface Difference {
  readonly text: string
  readonly rbac: readonly Json[]
  readonly question?: ApplyQuestion
}

/**
 * `npm run differential:rbac`: random roles and bindings on a real API server with its aggregation controller, and random
 * objects that random users read, list, apply and delete there by dry run; each answer must be ours, word by word. `--save`
 * keeps the answers for the test that needs no programs.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: '10000' },
      'per-world': { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      show: { type: 'string', default: '5' },
      save: { type: 'boolean' },
    },
  })
  const missing = whyNoCluster()
  if (missing !== undefined) {
    console.error(`${USAGE}\n${missing}`)
    return 2
  }
  const [seed, perWorld] = [Number(values.seed), Number(values['per-world'])]
  const server = await LiveWorlds.start()
  try {
    const facts: ApplyAnswers[] = []
    const differing: Difference[] = []
    // they are held by the test of what was recorded
    for (const { rbac, what: _, refused: __, ...question } of values.save ? FACTS : []) {
      const { answers, differences: found } = await server.compare(rbac, [question])
      facts.push(...answers)
      differing.push(...found)
    }
    const saved: (readonly ApplyAnswers[])[] = []
    let circles = 0
    const tally = new Map<string, number>()
    for (let at = 0; saved.flat().length < Number(values.cases); at++) {
      const { rbac, questions } = applyWorld(seed + at, perWorld)
      const { answers, differences: found } = await server.compare(rbac, questions)
      saved.push(answers)
      if (answers.length < perWorld) circles += 1
      differing.push(...found)
      for (const answer of answers) count(tally, kindOf(answer))
    }
    console.log(
      `${saved.flat().length} cases in ${saved.length} worlds, ${differing.length} different; ${circles} worlds left out, in which a circle of roles is filled by chance`,
    )
    console.log([...tally].map(([kind, times]) => `  ${times} ${kind}`).join('\n'))
    if (values.save) save({ version: kubernetesVersion(), seed, perWorld, facts, worlds: saved })
    return await report(differing, Number(values.show), server)
  } finally {
    await server.stop()
  }
}

/** A line for each case. */
function save({ worlds, facts, ...rest }: RecordedAnswers): void {
  const lines = (list: readonly ApplyAnswers[]) => `[${list.map(one => `\n${JSON.stringify(one)}`).join()}\n]`
  const head = JSON.stringify(rest).slice(0, -1)
  writeFileSync(RECORDED, `${head},"facts":${lines(facts)},"worlds":[${worlds.map(lines).join()}]}\n`)
}

const count = (tally: Map<string, number>, kind: string) => tally.set(kind, (tally.get(kind) ?? 0) + 1)

/** What became of an apply, for the counts. */
function kindOf([, , apply]: ApplyAnswers): string {
  if (apply === '') return 'allowed'
  return /attempting to grant|aggregationRule| cannot \w+ |^\d+/.exec(apply.replace(/^403 /, ''))![0].trim()
}

/** One API server whose roles and bindings are replaced for each world. */
class LiveWorlds {
  readonly #cluster: TestCluster
  #fences = 0

  constructor(cluster: TestCluster) {
    this.#cluster = cluster
  }

  static async start(): Promise<LiveWorlds> {
    const flags = ['--enable-priority-and-fairness=false']
    const controllers = ['clusterrole-aggregation-controller']
    const cluster = await startCluster({ workerRbac: false, controllers, flags })
    for (const object of STANDING) await applyAsAdmin(cluster, object)
    return new LiveWorlds(cluster)
  }

  stop(): Promise<void> {
    return this.#cluster.stop()
  }

  /** The answers of a world of these roles and bindings, and where ours are others. */
  async compare(
    rbac: readonly Json[],
    questions: readonly ApplyQuestion[],
  ): Promise<{ answers: ApplyAnswers[]; differences: Difference[] }> {
    const authorizer = authorizerOf(rbac.map(plainObject))
    let unsettled: Difference[] = []
    // the controller may still have been at work on a role of the world before, and write what that one gathered
    for (let attempt = 0; attempt < 3 && (attempt === 0 || unsettled.length > 0); attempt++) {
      await this.#replace(rbac)
      unsettled = await this.#settle(authorizer, rbac)
    }
    // what is left in a circle is chance, and we say that all of it may be there
    const isChance =
      rbac.some(one => nameOf(one) === IN_CIRCLE) && unsettled.every(({ text }) => text.endsWith('only server: '))
    if (isChance && unsettled.length > 0) return { answers: [], differences: [] }
    await this.#fence()
    const answers = await inParallel(questions, question => this.#ask(question))
    const found = questions.flatMap((question, at) =>
      differences(authorizer, question, answers[at]!).map(text => ({ text, rbac, question })),
    )
    return { answers, differences: [...unsettled, ...found] }
  }

  async #replace(rbac: readonly Json[]): Promise<void> {
    const { body } = await this.#cluster.request('GET', '/api/v1/namespaces')
    const namespaces = (body as unknown as { items: { metadata: { name: string } }[] }).items
    const inside = namespaces.map(({ metadata }) => `${RBAC}/namespaces/${metadata.name}`)
    const collections = [
      ...inside.flatMap(path => [`${path}/rolebindings`, `${path}/roles`]),
      `${RBAC}/clusterrolebindings`,
      `${RBAC}/clusterroles`,
    ]
    await inParallel(collections, async path => ok(await this.#cluster.request('DELETE', `${path}?${ADDED}`)))
    await inParallel(rbac, object => applyAsAdmin(this.#cluster, object))
  }

  /** Waits for the roles; those that stay other than we say, each as text. */
  async #settle(authorizer: Authorizer, rbac: readonly Json[]): Promise<Difference[]> {
    const names = new Set(rbac.map(nameOf))
    const limit = names.has(IN_CIRCLE) ? CIRCLE_MS : SETTLED_MS
    for (const until = Date.now() + limit; ; await sleep(50)) {
      const { body } = await this.#cluster.request('GET', `${RBAC}/clusterroles?${ADDED}`)
      const { items } = body as unknown as { items: LiveRole[] }
      // the controller, when it was about to fill in one that is deleted, makes it again
      const revived = items.filter(({ metadata }) => !names.has(metadata.name))
      for (const { metadata } of revived) await this.#cluster.request('DELETE', `${RBAC}/clusterroles/${metadata.name}`)
      const standard = ['admin', 'edit', 'view'].map(name =>
        this.#cluster.request('GET', `${RBAC}/clusterroles/${name}`),
      )
      const live = [...items, ...(await Promise.all(standard)).map(answer => answer.body as unknown as LiveRole)]
      // the controller may write into any role what one of that name gathered in the world before
      const wrong = live.flatMap(one => unlike(authorizer, one))
      if (revived.length === 0 && (wrong.length === 0 || Date.now() > until)) return wrong.map(text => ({ text, rbac }))
    }
  }

  /**
   * Waits until the authorizer, which watches, has seen all that was written: its watches keep the order of writes, so the
   * last object of each kind is enough. A binding is seen when the missing role of it is named, a role when it no longer is.
   */
  async #fence(): Promise<void> {
    const name = `fence-${this.#fences++}`
    for (const kind of ['Role', 'ClusterRole']) {
      const namespace = kind === 'Role' ? 'apps' : ''
      await applyAsAdmin(this.#cluster, binding(namespace, name, `${kind} ${name}`, `User ${name}`))
      await this.#until(name, error => error.includes(`${kind.toLowerCase()}.rbac.authorization.k8s.io "${name}"`))
      await applyAsAdmin(this.#cluster, role(namespace, name, []))
      await this.#until(name, error => error === '')
    }
  }

  async #until(user: string, seen: (error: string) => boolean): Promise<void> {
    const spec = { user, resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'apps' } }
    for (const until = Date.now() + SETTLED_MS; ; await sleep(5)) {
      const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
      const { body } = ok(await this.#cluster.request('POST', path, { spec }))
      const { evaluationError, reason } = (body as { status: { evaluationError?: string; reason?: string } }).status
      if (seen(evaluationError ?? reason ?? '')) return
      if (Date.now() > until) throw new Error(`the authorizer does not see ${user}: ${JSON.stringify(body)}`)
    }
  }

  async #ask({ user, object }: ApplyQuestion): Promise<ApplyAnswers> {
    const url = urlOf(object)
    const impersonate = user
    return [
      refusal(await this.#cluster.request('GET', url, undefined, { impersonate }), 404),
      refusal(await this.#cluster.request('GET', `${collectionOf(object)}?limit=1`, undefined, { impersonate })),
      refusal(await this.#cluster.request('PATCH', `${url}?dryRun=All&${AS_FLUX}`, object, { ...APPLY, impersonate })),
      refusal(await this.#cluster.request('DELETE', `${url}?dryRun=All`, undefined, { impersonate }), 404),
    ]
  }
}

/** In what a filled-in role differs from what we say of it. */
function unlike(authorizer: Authorizer, { metadata: { name }, rules }: LiveRole): string[] {
  const [ours, theirs] = [textsOf(authorizer.rulesOf({ kind: 'ClusterRole', name }, '')), textsOf(rules)]
  const more = theirs.filter(rule => !ours.includes(rule)).join(' ')
  const less = ours.filter(rule => !theirs.includes(rule)).join(' ')
  return more + less === '' ? [] : [`aggregation of ${name}\n  only ours:   ${less}\n  only server: ${more}`]
}

interface LiveRole {
  readonly metadata: { readonly name: string }
  readonly rules?: readonly Partial<PolicyRule>[] | null
}

function textsOf(rules: readonly Partial<PolicyRule>[] | null | undefined): string[] {
  const full = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
  return [...new Set((rules ?? []).map(rule => compactString({ ...full, ...rule })))].sort()
}

/** As Flux does it, so that what is left out later is removed; a kind that was just defined is not served at once. */
async function applyAsAdmin(cluster: TestCluster, object: Json): Promise<void> {
  for (const until = Date.now() + SETTLED_MS; ; await sleep(50)) {
    const answer = await cluster.request('PATCH', `${urlOf(object)}?${AS_FLUX}`, object, APPLY)
    if (answer.status < 300) return
    if (answer.status !== 404 || Date.now() > until) throw new Error(`${JSON.stringify(object)}: ${messageOf(answer)}`)
  }
}

function ok(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(messageOf(answer))
  return answer
}

function refusal(answer: Answer, fine = 0): string {
  if (answer.status < 300 || answer.status === fine) return ''
  if (![403, 404, 422].includes(answer.status)) throw new Error(`${answer.status} ${messageOf(answer)}`)
  return `${answer.status} ${messageOf(answer)}`
}

const nameOf = (object: Json) => (object as unknown as LiveRole).metadata.name

const messageOf = ({ body }: Answer) => (body as { message?: string }).message ?? JSON.stringify(body)

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** A difference without the names in it. */
const shapeOf = ({ text }: Difference) =>
  text
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/\{[^}]*\}/g, '{}')
    .replaceAll(/[\s{}]+/g, ' ')
    .replaceAll(/(?:"" ?)+/g, '"" ')

async function report(differing: readonly Difference[], show: number, server: LiveWorlds): Promise<number> {
  const kinds = [...Map.groupBy(differing, shapeOf)].sort(([, a], [, b]) => b.length - a.length)
  for (const [, members] of kinds) console.log(`  ${members.length} times ${apart(members[0]!.text)}`)
  for (const [kind, members] of kinds.slice(0, show)) {
    const smallest = await shrink(members[0]!, kind, server)
    console.log(`\n${apart(smallest.text)}\n${JSON.stringify(smallest.question)}`)
    for (const object of smallest.rbac) console.log(`  ${JSON.stringify(object)}`)
  }
  return differing.length > 0 ? 1 : 0
}

/** Both texts without the lines that they share. */
function apart(text: string): string {
  const [request = '', ours = [], theirs = []] = text
    .split(/\n {2}(?:ours|server):/)
    .map((part, at) => (at ? part.split('\n') : part)) as [string, string[], string[]]
  const only = (lines: string[], others: string[]) => lines.filter(line => !others.includes(line)).join('\n')
  return `${request}\n  ours: ${only(ours, theirs)}\n  server: ${only(theirs, ours)}`
}

/** The same kind of difference in a world with fewer roles and bindings. */
async function shrink(found: Difference, kind: string, server: LiveWorlds): Promise<Difference> {
  let best = found
  let tries = 0
  for (
    let size = Math.ceil(best.rbac.length / 2);
    size >= 1 && tries < TRIES;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let at = 0; at < best.rbac.length && tries < TRIES; tries++) {
      const rbac = best.rbac.toSpliced(at, size)
      const { question } = best
      const lost =
        question?.before !== undefined && best.rbac.includes(question.before) && !rbac.includes(question.before)
      const smaller = !lost ? await server.compare(rbac, question ? [question] : []) : undefined
      const again = smaller?.differences.find(one => shapeOf(one) === kind)
      if (again) best = again
      else at += size
    }
  }
  return best
}

process.exitCode = await main()
