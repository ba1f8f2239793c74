import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BailiwickError } from '../../base/errors.ts'
import { type Log, logAbout } from '../../process/log.ts'
import type { Answer } from './answer.ts'

/** The parts of Probot that the web process needs: checking a signature and running the handlers. */
export interface Receiver {
  verify(body: string, signature: string): Promise<boolean>
  receive(event: { id: string; name: string; payload: unknown }): Promise<void>
}

/** The validated headers of a delivery. */
interface Delivery {
  readonly id: string
  readonly event: string
  readonly signature: string
}

/** Checks the headers of a delivery: returns the delivery, or the response that refuses it. */
export function readHeaders(headers: IncomingHttpHeaders): Delivery | Answer {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  const encoding = headers['content-encoding'] ?? 'identity'
  if (type !== 'application/json' || encoding !== 'identity') {
    return {
      status: 415,
      text: 'a webhook must be plain application/json: choose that content type in the settings of the App',
    }
  }
  const signature = single(headers['x-hub-signature-256'])
  if (signature === undefined) {
    return { status: 401, text: 'X-Hub-Signature-256 is missing: set the webhook secret in the settings of the App' }
  }
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return { status: 401, text: 'X-Hub-Signature-256 is malformed' }
  const id = single(headers['x-github-delivery'])
  const event = single(headers['x-github-event'])
  if (id === undefined || !/^[\w-]{1,100}$/.test(id))
    return { status: 400, text: 'X-GitHub-Delivery is missing or malformed' }
  if (event === undefined || !/^[a-z][a-z_]{0,63}$/.test(event)) {
    return { status: 400, text: 'X-GitHub-Event is missing or malformed' }
  }
  return { id, event, signature }
}

/**
 * Responds to a delivery whose body is complete. It returns 200 only after the jobs are stored; GitHub lists any other
 * status as failed, and can redeliver.
 */
export async function receiveWebhook(delivery: Delivery, body: Buffer, receiver: Receiver, log: Log): Promise<Answer> {
  const text = body.toString('utf8')
  if (!(await isSigned(receiver, text, delivery.signature))) {
    return {
      status: 401,
      text: 'the signature does not match: WEBHOOK_SECRET differs from the secret in the settings of the App',
    }
  }
  const payload = parseObject(text)
  if (payload === undefined) return { status: 400, text: 'the body is not a JSON object' }
  const { id, event } = delivery
  try {
    await logAbout({ delivery: id, event }, () => receiver.receive({ id, name: event, payload }))
    return { status: 200, text: 'ok' }
  } catch (err) {
    log.error({ delivery: id, event, err }, 'webhook delivery failed')
    if (causes(err).some(isQueueGone)) return { status: 503, text: 'the job could not be stored: deliver again later' }
    return { status: 500, text: 'internal error' }
  }
}

/** Between two lines about refused webhooks: anyone can send them. */
const QUIET_MS = 60_000

/** Logs that webhooks are refused, at once and then once a minute with their number. */
export class RefusedWebhooks {
  readonly #log: Pick<Log, 'warn'>
  #saidAt = Number.NEGATIVE_INFINITY
  #refused = 0

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log
  }

  note(now = Date.now()): void {
    this.#refused++
    if (now - this.#saidAt < QUIET_MS) return
    const what =
      'webhook refused: its signature does not match WEBHOOK_SECRET. If GitHub sent it, bailiwick doctor reports that'
    this.#log.warn({ refused: this.#refused }, what)
    this.#saidAt = now
    this.#refused = 0
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined
}

async function isSigned(receiver: Receiver, body: string, signature: string): Promise<boolean> {
  return body !== '' && (await receiver.verify(body, signature))
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined // the caller answers malformed JSON
  }
}

function causes(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [error]
}

function isQueueGone(error: unknown): boolean {
  return error instanceof BailiwickError && error.code === 'queue-unavailable'
}

/**
 * Whether a body was signed with one of the secrets, as GitHub signs (`sha256=` and 64 hex digits). Every secret is tried
 * and compared in constant time: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export function verifySignature(secrets: readonly string[], body: string, signature: string): boolean {
  const given = Buffer.from(signature.replace(/^sha256=/, ''), 'hex')
  const matches = secrets.map(secret => {
    const own = createHmac('sha256', secret).update(body).digest()
    return given.length === own.length && timingSafeEqual(given, own)
  })
  return matches.includes(true)
}
