import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'node:zlib'
import { Redis } from 'ioredis'
import { vi } from 'vitest'
import type { Stage } from './stage.ts'

/** Everything that this process prints from now on, until vi.restoreAllMocks(). It is kept only. */
export function keepPrinted(): string[] {
  const printed: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((...args: unknown[]) => {
      printed.push(String(args[0]))
      const done = args.findLast(one => typeof one === 'function')
      if (done) done()
      return true
    })
  }
  return printed
}

/** Everything that left the process, or was kept anywhere: output, disk, Redis, requests to GitHub and what it shows. */
export async function tracesOf(stage: Stage, printed: readonly string[]): Promise<string> {
  const { github, directory, environment } = stage
  const kept = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name)))
    .flatMap(bytes => [bytes.toString('latin1'), unpacked(bytes)])
  const written = github.requests.map(request => JSON.stringify(request))
  const shown = [...github.world.repositories.values()].map(({ name, owner }) => {
    const repo = `${owner.login}/${name}`
    const issues = [...github.pullRequestsOf(repo).map(one => one.issue)]
    return JSON.stringify(issues.map(one => [one.title, one.body, github.commentsOf(repo, one.number)]))
  })
  return [...printed, ...kept, ...written, ...shown, ...(await redisContent(environment.REDIS_URL))].join('\n')
}

/** The forms in which the private half of a PEM key could have been written down. */
export function formsOf(pem: string): string[] {
  const base64 = pem.split('\n')[1] ?? ''
  // PKCS #8 of Ed25519: 16 bytes of header, 32 of seed
  const seed = Buffer.from(base64, 'base64').subarray(16)
  if (base64.length !== 64 || seed.length !== 32) throw new Error('no Ed25519 key')
  const text = Buffer.from(pem)
  // base64 of a longer text that holds it has three forms, by where it begins there
  const shifted = [1, 2].map(by =>
    Buffer.concat([Buffer.alloc(by), text])
      .toString('base64')
      .slice(8, 100),
  )
  return [
    ...[base64, seed.toString('hex'), seed.toString('base64'), text.toString('base64').slice(0, 100), ...shifted],
    ...[
      seed.toString('base64url'),
      seed.toString('hex').toUpperCase(),
      seed.toString('latin1'),
      `${[...seed].join(',')}`,
    ],
  ]
}

/** What a compressed file or value holds; '' for what is not compressed. */
function unpacked(bytes: Buffer): string {
  try {
    return unzipSync(bytes).toString('latin1')
  } catch {
    // neither gzip nor zlib: it is read as it is
    return ''
  }
}

async function redisContent(url: string | undefined): Promise<string[]> {
  if (url === undefined) return []
  const redis = new Redis(url)
  try {
    const reads: Record<string, (key: string) => Promise<unknown>> = {
      string: async key => {
        const bytes = (await redis.getBuffer(key)) ?? Buffer.alloc(0)
        return [bytes.toString('latin1'), unpacked(bytes)]
      },
      list: key => redis.lrange(key, 0, -1),
      hash: key => redis.hgetall(key),
      set: key => redis.smembers(key),
      zset: key => redis.zrange(key, '0', '-1'),
      stream: key => redis.xrange(key, '-', '+'),
    }
    const all = await redis.keys('*')
    return await Promise.all(
      all.map(async key => `${key} ${JSON.stringify(await reads[await redis.type(key)]?.(key))}`),
    )
  } finally {
    redis.disconnect()
  }
}
