import { BailiwickError, type ErrorCode } from '../errors.ts'
import type { MessagePart } from '../message/message.ts'

/** Replaces an error that is about another repository. */
export const CLOSED_ERROR =
  "the cause is in another repository, which cannot be named here. The operator's log names it"

/** Errors that quote who asked for something, and nobody else. */
const ABOUT_WHAT_WAS_ASKED: ReadonlySet<ErrorCode> = new Set([
  'command-input',
  'onboard-input',
  'onboard-layout',
  'offboard-input',
  'offboard-layout',
  'sops-config',
  // they read the repository in which they are asked for, and nothing else
  'adopt-input',
  'adopt-layout',
  'adopt-not-proven',
])
/** In messages without types. */
const REPOSITORY = /[\w.-]+\/[\w.-]+/
/** Where a branch is quoted it is the pull request's own. */
const BRANCH = /\b(?:branch|with) "[^"]*"/g

/** An id of git names nobody. */
const COMMIT = /^[0-9a-f]{7,64}$/

/**
 * Whether an error that came before any verdict may be told on the repository at `here`. Nobody knows then which names belong
 * to other tenants, so one that stands in another repository, or names one, may not.
 */
export function isOpenError({ code, origin, message, said }: BailiwickError, here: string): boolean {
  if (ABOUT_WHAT_WAS_ASKED.has(code)) return true
  if (origin !== undefined) return origin.repository === here
  if (said !== undefined) return said.parts.every(one => typeof one === 'string' || isOpenPart(one, here))
  return !namesOthers(message, here)
}

/** Found from the words. */
function namesOthers(message: string, here: string): boolean {
  const own = here.split('/').slice(-2).join('/').replace(/[.]/g, '\\.')
  const rest = message.replace(BRANCH, '').replace(new RegExp(`(?:https://[\\w.-]+/)?${own}(?![\\w.-])`, 'gi'), '')
  return REPOSITORY.test(rest)
}

/** Of values only these are the reader's own: a branch is that of the pull request. */
function isOpenPart({ type, value }: MessagePart, here: string): boolean {
  if (type === 'text') return !namesOthers(value, here)
  if (type === 'value') return COMMIT.test(value)
  if (type !== 'repository') return type === 'branch' || type === 'code'
  const [own, name] = [here, value].map(text => text.toLowerCase())
  return name === own || name === own!.split('/').slice(-2).join('/')
}

/** Returns the error as the repository at `here` may see it. */
export function openError(error: BailiwickError, here: string): BailiwickError {
  return isOpenError(error, here) ? error : new BailiwickError(error.code, CLOSED_ERROR)
}
