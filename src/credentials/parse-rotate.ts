import { BailiwickError } from '../errors.ts'

export const ROTATE_USAGE = 'rotate-key TENANT [--ready]'

/** What `/bailiwick rotate-key` asks for. */
interface RotateRequest {
  readonly tenant: string
  /** The clusters read with the new key: the old one may go. */
  readonly isReady: boolean
}

/** Reads what stands behind `rotate-key`. Throws `command-input`. */
export function parseRotate(words: readonly string[]): RotateRequest {
  const names = words.filter(word => word !== '--ready')
  const [tenant] = names
  const isOnce = words.length - names.length <= 1
  if (names.length === 1 && tenant !== undefined && /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(tenant) && isOnce) {
    return { tenant, isReady: words.length > names.length }
  }
  throw new BailiwickError('command-input', 'the name of one tenant is needed', {
    fix: `Write: /bailiwick ${ROTATE_USAGE}`,
  })
}
