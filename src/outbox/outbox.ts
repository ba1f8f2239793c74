import type { TrailDecision, WrittenEnd } from '../trail/trail-entry.ts'

/** The fleet repository whose trail it is. */
export interface TrailPlace {
  readonly installation: number
  readonly owner: string
  readonly repo: string
}

/** Decisions that wait to be written, the oldest first. */
export interface WaitingDecisions {
  readonly decisions: readonly TrailDecision[]
  /** Decisions that came when too many were waiting: they are counted only. */
  readonly lost: number
}

/** More decisions of one fleet than this do not wait: the branch cannot be written for a long time. */
export const MAX_WAITING = 10_000

/** After this time, an action with the same id counts as a new one. */
export const ONCE_SECONDS = 30 * 86_400

/**
 * Decisions on their way to the trail of their fleet, and how far each trail has come. What is added stays until it is
 * taken away, and survives restarts where the store does.
 */
export interface Outbox {
  /** `once`: adds the decision only if none with its id was added within `ONCE_SECONDS`. Returns false if one was. */
  add(place: TrailPlace, decision: TrailDecision, once?: boolean): Promise<boolean>
  waiting(place: TrailPlace, most: number): Promise<WaitingDecisions>
  /** Takes the oldest decisions away, which the trail now has up to `head`. */
  written(
    place: TrailPlace,
    done: { readonly count: number; readonly lost: number; readonly head: WrittenEnd },
  ): Promise<void>
  /** The last entry that was written; undefined where none is known. */
  head(place: TrailPlace): Promise<WrittenEnd | undefined>
  /** Records the incident that stopped a trail; undefined: the trail continues. */
  stop(place: TrailPlace, incident: string | undefined): Promise<void>
  /** The incident that stopped the trail; undefined if decisions are being written. */
  stopped(place: TrailPlace): Promise<string | undefined>
  close(): Promise<void>
}

/** GitHub's names ignore case. */
export const placeKey = ({ installation, owner, repo }: TrailPlace): string =>
  `${installation}:${owner}/${repo}`.toLowerCase()
