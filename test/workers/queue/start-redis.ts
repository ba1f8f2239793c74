import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { startProgram } from '../../../tools/envtest/program.ts'
import { until } from './until.ts'

/** Whether the machine has redis-server. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

/** A real Redis of a test, on 127.0.0.1, with its data in a temporary folder. */
export interface TestRedis {
  readonly url: string
  readonly port: number
  /** Ends the server at once and keeps its data. */
  kill(): Promise<void>
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Starts one on a free port; `args` are further options of redis-server. */
export async function startRedis(args: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...args]
  let server = await launch(options, url, folder)
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    server.ref()
    await once(server, 'exit')
  }
  return {
    url,
    port,
    kill,
    restart: async () => {
      server = await launch(options, url, folder)
    },
    flush: () => command(url, 'flushall').then(() => undefined),
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const idle: TestRedis[] = []

/** One that this process had before, empty again, or a new one, which ends with the process. */
export async function keptRedis(): Promise<Pick<TestRedis, 'url' | 'stop'>> {
  const redis: TestRedis = idle.pop() ?? (await startRedis())
  return { url: redis.url, stop: () => redis.flush().then(() => void idle.push(redis)) }
}

/** A port that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

async function launch(options: readonly string[], url: string, folder: string): Promise<ChildProcess> {
  const server = startProgram('redis-server', options, join(folder, 'log'), folder).process
  server.unref()
  await until(() =>
    command(url, 'ping').then(
      answer => answer === 'PONG',
      () => false,
    ),
  )
  return server
}

async function command(url: string, name: string): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  client.on('error', () => undefined) // the caller gets it as a rejection
  try {
    return await client.call(name)
  } finally {
    client.disconnect()
  }
}
