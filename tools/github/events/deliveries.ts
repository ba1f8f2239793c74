import { createHmac, randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { organizationSimpleJson } from '../json/organization.ts'
import { repositoryJson } from '../json/repository.ts'
import { userJson } from '../json/user.ts'
import type { App, Emit, Installation, Repository, User, World } from '../world.ts'
import { isSubscribed } from './is-subscribed.ts'
import { post } from './post.ts'

export interface Delivery {
  readonly id: number
  readonly guid: string
  readonly app: string
  readonly event: string
  readonly action: string | undefined
  readonly payload: Readonly<Record<string, unknown>>
  readonly redelivery: boolean
  readonly at: string
  /** HTTP status of the answer, 502 or 504 when there was none; undefined while it is awaited. */
  status: number | undefined
  /** What GitHub calls the outcome. */
  outcome: string
  durationMs: number
  /** Where it was sent to: the address that the app had when its turn came. */
  url: string
  readonly headers: Readonly<Record<string, string>>
  answer: { readonly headers: Readonly<Record<string, string>>; readonly body: string }
}

/** How long GitHub waits for an answer (docs, best practices for using webhooks). */
const PATIENCE_MS = 10_000
/** A bigger payload is not delivered at all (docs, webhook events and payloads). */
const MOST_BYTES = 25 * 1024 * 1024

/** Sends webhooks to the apps, one after the other per app (or so many at once), and remembers them. */
export class Deliveries {
  readonly log: Delivery[] = []
  readonly #world: World
  readonly #queues = new Map<string, Promise<void>>()
  readonly #stop = new AbortController()

  readonly #patienceMs: number
  readonly #agent = new Agent({ keepAlive: true })
  readonly #lanes: number
  #sent = 0

  constructor(world: World, { patienceMs = PATIENCE_MS, lanes = 1 } = {}) {
    this.#world = world
    this.#lanes = lanes
    this.#patienceMs = patienceMs
  }

  /** Tells every app that is installed on the repository, and subscribed, what happened. */
  announce(...[repository, sender, event, payload, only]: Parameters<Emit>): void {
    for (const installation of this.#world.installations.values()) {
      const { app } = installation
      const covered = installation.repositories === 'all' || installation.repositories.has(repository.id)
      if (installation.account.id !== repository.owner.id || !covered || (only && app !== only)) continue
      if (installation.suspended || !isSubscribed(installation, event)) continue
      const about = event === 'push' ? pushRepository(this.#world, repository) : repositoryJson(this.#world, repository)
      this.send(app, event, { ...payload, repository: about, ...this.#context(installation, sender) })
    }
  }

  /** Tells every app that is installed on an account, and subscribed, what happened to it. */
  announceForAccount(...[account, sender, event, payload]: Parameters<World['emitForAccount']>): void {
    for (const installation of this.#world.installations.values()) {
      const { app, suspended } = installation
      if (installation.account !== account || suspended || !isSubscribed(installation, event)) continue
      this.send(app, event, { ...payload, ...this.#context(installation, sender) })
    }
  }

  /** Tells one app what concerns its installation. */
  announceToInstallation(...[installation, sender, event, payload]: Parameters<World['emitToInstallation']>): void {
    const { organization } = this.#context(installation, sender)
    const person = userJson(this.#world, sender)
    this.send(installation.app, event, { ...payload, sender: person, ...(organization ? { organization } : {}) })
  }

  /** Queues one delivery; the payload is frozen as it is now. An app without a hook address gets none. */
  send(app: App, event: string, payload: Record<string, unknown>, redeliveryOf?: Delivery): void {
    if (!app.webhookUrl) return
    const body = JSON.stringify(payload)
    if (body.length > MOST_BYTES) return
    const action = typeof payload.action === 'string' ? payload.action : undefined
    const guid = redeliveryOf?.guid ?? randomUUID()
    const delivery: Delivery = {
      ...{ id: this.#world.nextId(), guid, app: app.slug, event, action, payload, url: app.webhookUrl },
      ...{ redelivery: redeliveryOf !== undefined, at: new Date().toISOString(), status: undefined, durationMs: 0 },
      ...{ outcome: 'pending', answer: { headers: {}, body: '' }, headers: headersOf(app, event, guid, body) },
    }
    this.log.push(delivery)
    const lane = `${app.id}:${this.#sent++ % this.#lanes}`
    const before = this.#queues.get(lane) ?? Promise.resolve()
    this.#queues.set(
      lane,
      before.then(() => this.#post(app, delivery, body)),
    )
  }

  /** Resolves when every delivery was answered, those included that come meanwhile. */
  async idle(): Promise<void> {
    while (this.log.some(delivery => delivery.status === undefined)) await Promise.all(this.#queues.values())
  }

  /** Gives up what is under way or waits. */
  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#queues.values())
    this.#agent.destroy()
  }

  /** What fails is in the log, and GitHub does not try again by itself. */
  async #post(app: App, delivery: Delivery, body: string): Promise<void> {
    const started = performance.now()
    delivery.url = app.webhookUrl ?? delivery.url
    const timeout = AbortSignal.timeout(this.#patienceMs)
    const signal = AbortSignal.any([this.#stop.signal, timeout])
    try {
      const answer = await post(delivery.url, { agent: this.#agent, headers: delivery.headers, body, signal })
      delivery.answer = answer
      delivery.status = answer.status
      const ok = answer.status >= 200 && answer.status < 300
      delivery.outcome = ok ? 'OK' : `Invalid HTTP Response: ${answer.status}`
    } catch {
      delivery.status = timeout.aborted ? 504 : 502
      delivery.outcome = timeout.aborted ? 'timed out' : 'failed to connect to host'
    }
    delivery.durationMs = performance.now() - started
  }

  #context(installation: Installation, sender: User) {
    const { account, app } = installation
    const organization = account.type === 'Organization' ? organizationSimpleJson(this.#world, account) : undefined
    const node_id = Buffer.from(`integration-${app.id}-${installation.id}`).toString('base64')
    return { installation: { id: installation.id, node_id }, sender: userJson(this.#world, sender), organization }
  }
}

function headersOf(app: App, event: string, guid: string, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/0000000',
    'x-github-event': event,
    'x-github-delivery': guid,
    'x-github-hook-id': String(app.id),
    'x-github-hook-installation-target-id': String(app.id),
    'x-github-hook-installation-target-type': 'integration',
    'x-hub-signature-256': `sha256=${createHmac('sha256', app.webhookSecret).update(body).digest('hex')}`,
  }
}

/** In a push the repository has its times as numbers, and its owner a name (docs, webhook events and payloads). */
function pushRepository(world: World, repository: Repository) {
  const json = repositoryJson(world, repository)
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1000)
  const owner = { ...json.owner, name: repository.owner.login, email: null }
  const times = { created_at: seconds(repository.createdAt), pushed_at: seconds(repository.pushedAt) }
  return { ...json, ...times, owner, stargazers: 0, master_branch: repository.defaultBranch }
}
