import { visible } from '../message/visible.ts'
import type { Origin } from '../origin.ts'
import { placeOf } from '../report/text/place.ts'

/** `error[<code>]: what, where, what to do`: one line, whatever the values hold. */
export function errorLine(error: {
  readonly code: string
  readonly message: string
  readonly origin?: Origin | undefined
  readonly fix?: string | undefined
}): string {
  const place = error.origin ? placeOf(error.origin, error.origin.repository) : ''
  const parts = [error.message, ...(place ? [`at ${place}`] : []), ...(error.fix ? [error.fix] : [])]
  return `error[${error.code}]: ${visible(parts.join(', '), 2000)}`
}
