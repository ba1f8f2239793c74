import { visible } from '../message/visible.ts'
import type { Origin } from '../origin.ts'
import { ended } from '../report/text/ended.ts'
import { placeOf } from '../report/text/place.ts'

/** `error[<code>]: what, at <where>. What to do`: one line, whatever the values hold. */
export function errorLine(error: {
  readonly code: string
  readonly message: string
  readonly origin?: Origin | undefined
  readonly fix?: string | undefined
}): string {
  const place = error.origin ? placeOf(error.origin, error.origin.repository) : ''
  const what = `${error.message}${place ? `, at ${place}` : ''}`
  return `error[${error.code}]: ${visible(error.fix ? `${ended(what)} ${error.fix}` : what, 2000)}`
}
