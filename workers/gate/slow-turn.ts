import { hash } from 'node:crypto'

const MINUTE = 60_000
const HOUR_MINUTES = 60
/** On average, so that no hour has more than about sixty: minutes are drawn, not counted. */
const PER_HOUR = 45

/**
 * The delay before a pull request is evaluated again by a newer version, in ms. The delays are spread by name, one pull
 * request per minute, over as many hours as needed. Nothing is stored: every process computes the same minute.
 */
export function slowTurn(name: string, many: number, now: number): number {
  const minutes = HOUR_MINUTES * Math.max(1, Math.ceil(many / PER_HOUR))
  const own = hash('sha256', name, 'buffer').readUInt32BE(0) % minutes
  const present = Math.floor(now / MINUTE) % minutes
  const ahead = (own - present + minutes) % minutes
  return ahead === 0 ? 0 : ahead * MINUTE - (now % MINUTE)
}
