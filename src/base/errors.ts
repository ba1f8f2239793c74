import { type Message, plainText } from './message.ts'
import type { Origin } from './origin.ts'

/** Every code an error of ours can carry; docs and exit messages rely on the set being closed. */
export type ErrorCode =
  // input that could not be read
  | 'yaml-syntax'
  | 'yaml-ambiguous'
  | 'yaml-encoding'
  | 'invalid-object'
  | 'unknown-scope'
  | 'render-limits'
  | 'graph-limits'
  | 'graph-conflict'
  // kustomize and Flux
  | 'kustomize-unsupported'
  | 'kustomize-invalid'
  | 'kustomize-missing'
  | 'kustomize-multiple-files'
  | 'flux-unsupported'
  | 'flux-invalid'
  | 'flux-missing-variable'
  | 'unrendered-variable'
  | 'path-not-found'
  // sources and git
  | 'git-missing'
  | 'git-corrupt'
  | 'git-truncated'
  | 'git-ambiguous'
  | 'source-unreadable'
  | 'nothing-evaluated'
  | 'not-followed'
  // who may evaluate
  | 'fleet-undesignated'
  // GitHub
  | 'github-unavailable'
  | 'merge-conflict'
  | 'check-shared'
  | 'not-permitted'
  // onboarding
  | 'onboard-input'
  | 'onboard-layout'
  | 'offboard-input'
  | 'offboard-layout'
  | 'sops-config'
  | 'adopt-input'
  | 'adopt-layout'
  | 'adopt-not-proven'
  // commands in comments
  | 'command-input'
  // cluster
  | 'cluster-unavailable'
  | 'cluster-forbidden'
  | 'cluster-invalid'
  | 'cluster-conflict'
  | 'cluster-fenced'
  | 'cluster-controller-active'
  // the web process, asked by the worker of a cluster
  | 'web-unavailable'
  // queue
  | 'queue-unavailable'
  // set-up and command line
  | 'config'
  | 'usage'
  // ours
  | 'evaluation-limits'
  | 'internal'

/** What may stand beside the message. `rule`: the input is forbidden by that rule (a violation), not merely unreadable. */
export interface ErrorDetails {
  readonly origin?: Origin | undefined
  readonly rule?: string | undefined
  readonly fix?: string | Message | undefined
  /** Identifies the error across commits instead of the message, so that baselines and waivers survive new words. Never changes. */
  readonly identity?: string | undefined
  /** Whether kustomize or Flux refuses the whole build for it, where the code does not say. */
  readonly refused?: boolean | undefined
  /** The address that it is about, without credentials, where that is in no repository that was given. */
  readonly remote?: string | undefined
  /** Path of the encrypted file whose content is all that is missing. */
  readonly sealed?: string | undefined
  /** Seconds to wait before a retry, as the other side asked. */
  readonly retryAfter?: number | undefined
  /** The other side refuses everything of ours until then, not only this. */
  readonly limited?: boolean | undefined
  readonly cause?: unknown
}

/** An expected failure with a code: what happened, where, what to do. Anything else that is thrown is a bug or an outage. */
export class BailiwickError extends Error {
  override readonly name = 'BailiwickError'
  readonly code: ErrorCode
  readonly origin: Origin | undefined
  readonly rule: string | undefined
  readonly fix: string | undefined
  readonly identity: string | undefined
  readonly refused: boolean | undefined
  readonly remote: string | undefined
  readonly sealed: string | undefined
  readonly retryAfter: number | undefined
  readonly limited: boolean
  /** The message with the types of its parts, where it was given so: what may be shown is known by them. */
  readonly typed: Message | undefined
  readonly typedFix: Message | undefined

  constructor(code: ErrorCode, message: string | Message, details: ErrorDetails = {}) {
    super(plainText(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.typed = typeof message === 'string' ? undefined : message
    this.origin = details.origin
    this.rule = details.rule
    this.fix = details.fix === undefined ? undefined : plainText(details.fix)
    this.typedFix = typeof details.fix === 'object' ? details.fix : undefined
    this.identity = details.identity
    this.refused = details.refused
    this.remote = details.remote
    this.sealed = details.sealed
    this.retryAfter = details.retryAfter
    this.limited = details.limited ?? false
  }
}

/** What a step gives, or `otherwise` where it is refused with an error of ours. Throws every other error. */
export function unlessRefused<T, U>(otherwise: U, step: () => T): T | U {
  try {
    return step()
  } catch (error) {
    if (error instanceof BailiwickError) return otherwise
    throw error
  }
}

/** Whether there is no such file: it was never there, or another process deleted it. */
export const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** What is read; undefined where there is no such file. */
export async function unlessGone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}
