import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ApprovedNode } from '../../../src/verdict/approve.ts'

/** A worker of its own process, loaded and waiting for its work. */
export interface SpawnedWorker {
  /** It begins to bring the cluster to the nodes. */
  begin(kubeconfig: string, cluster: string, nodes: readonly ApprovedNode[]): void
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>
  /** How it ended: null where it was killed. */
  readonly ended: Promise<number | null>
  /** What it wrote to its standard error. */
  said(): string
}

export function spawnWorker(): SpawnedWorker {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'apply-child.ts')], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit').then(([code]) => {
    process.removeListener('exit', kill)
    return code as number | null
  })
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk
  })
  // a process that was killed reads no more
  child.stdin.on('error', () => {})
  return {
    begin: (kubeconfig, cluster, nodes) => {
      child.stdin.end(`${JSON.stringify({ kubeconfig, cluster, nodes })}\n`)
    },
    async kill() {
      kill()
      await ended
    },
    ended,
    said: () => text,
  }
}
