import { createServer, connect as open, type Socket } from 'node:net'

type Moment = 'sent' | 'answered'

/** Stands between a process and its Redis. */
export interface RedisProxy {
  readonly url: string
  /** Names of the commands that count, in order; see `counts`. */
  readonly seen: string[]
  /**
   * Told when a command that counts comes (`sent`: Redis does not have it yet) and when it is answered (the process does not have
   * the answer yet), with its number since the last `reset`. What is lost goes no further.
   */
  moment: ((number: number, when: Moment) => Promise<'lost' | undefined> | undefined) | undefined
  reset(): void
  close(): Promise<void>
}

/** `counts`: the name of a command that counts, by its words; undefined for one that does not. */
export async function startRedisProxy(
  port: number,
  counts: (words: readonly string[]) => string | undefined,
): Promise<RedisProxy> {
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = open(port, '127.0.0.1')
    for (const socket of [near, far]) sockets.add(socket.on('close', () => sockets.delete(socket)))
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    const asked: (number | undefined)[] = []
    const isLost = async (number: number | undefined, when: Moment) =>
      number !== undefined && (await proxy.moment?.(number, when)) === 'lost'
    near.on(
      'data',
      framed(async frame => {
        const name = counts(wordsOf(frame))
        const number = name === undefined ? undefined : proxy.seen.push(name)
        if (await isLost(number, 'sent')) return end()
        asked.push(number)
        far.write(frame)
      }),
    )
    far.on(
      'data',
      framed(async frame => {
        if (await isLost(asked.shift(), 'answered')) return end()
        near.write(frame)
      }),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const proxy: RedisProxy = {
    url: `redis://127.0.0.1:${address.port}`,
    seen: [],
    moment: undefined,
    reset: () => {
      proxy.seen.length = 0
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return proxy
}

/** Calls with each whole value of the protocol, one after the other. */
function framed(told: (frame: Buffer) => Promise<void>): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let last = Promise.resolve()
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    for (let end = endOf(rest, 0); end !== undefined; end = endOf(rest, 0)) {
      const frame = rest.subarray(0, end)
      rest = rest.subarray(end)
      last = last.then(() => told(frame))
    }
  }
}

/** Where the value ends that begins there (RESP 2 and 3); undefined where it is not whole. */
function endOf(buffer: Buffer, start: number): number | undefined {
  const line = buffer.indexOf('\r\n', start)
  if (line < 0) return undefined
  const type = String.fromCharCode(buffer[start]!)
  const length = Number(buffer.subarray(start + 1, line).toString())
  if ('$=!'.includes(type)) {
    const end = length < 0 ? line + 2 : line + 2 + length + 2
    return end > buffer.length ? undefined : end
  }
  const count = '*~>'.includes(type) ? length : '%|'.includes(type) ? 2 * length : 0
  let end: number | undefined = line + 2
  for (let left = count; left > 0 && end !== undefined; left--) end = endOf(buffer, end)
  return end
}

/** The words of a command, which is an array of strings. */
function wordsOf(frame: Buffer): string[] {
  const words: string[] = []
  for (let at = frame.indexOf('\r\n') + 2; at < frame.length; ) {
    const line = frame.indexOf('\r\n', at)
    const length = Number(frame.subarray(at + 1, line).toString())
    words.push(frame.subarray(line + 2, line + 2 + length).toString())
    at = line + 2 + length + 2
  }
  return words
}
