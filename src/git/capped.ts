import { Transform } from 'node:stream'
import { BailiwickError } from '../errors.ts'

/** Ends a stream that gives more than `max` bytes with `render-limits`: what is compressed does not say how large it is. */
export function capped(max: number, what: string): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      seen += chunk.length
      if (seen <= max) return done(null, chunk)
      done(new BailiwickError('render-limits', `${what} unpacks to more than ${max} bytes`))
    },
  })
}
