import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

/** The network of a pod: it reaches what it was given and nothing else, and its ports are reached through files. */
export interface Sandbox {
  /** Its network is that of this process. */
  readonly process: number
  /** The file behind a port of the pod's address; it is not that of the pod's loopback. */
  inbound(port: number): string
  close(): Promise<void>
}

/** Where a pod can connect to, and what answers there: a port of this machine's loopback, or a file. */
export interface Reachable {
  readonly host: string
  readonly port: number
  readonly to: () => { readonly port: number; readonly host: '127.0.0.1' } | { readonly path: string }
}

const RELAYS = join(import.meta.dirname, 'sandbox-relays.mjs')
const IS_ROOT = process.getuid?.() === 0
/** The pod's own address; each pod has a network of its own. */
const ADDRESS = '10.128.0.1'

/** Opens a network with these addresses on its loopback. `folder` is for the sockets. */
export async function openSandbox(
  folder: string,
  reachable: readonly Reachable[],
  ports: readonly number[],
): Promise<Sandbox> {
  const servers = await Promise.all(reachable.map((one, index) => passOn(join(folder, `out-${index}.sock`), one.to)))
  const outbound = reachable.map(({ host, port }, index) => ({ host, port, path: join(folder, `out-${index}.sock`) }))
  const inbound = ports.map(port => ({ port, path: join(folder, `in-${port}.sock`) }))
  const hosts = [...new Set([ADDRESS, ...reachable.map(({ host }) => host)])].filter(host => !host.startsWith('127.'))
  const script = ['ip link set lo up', ...hosts.map(host => `ip addr add ${host}/32 dev lo`), `exec "$0" "$@"`].join(
    ' && ',
  )
  const settings = JSON.stringify({ address: ADDRESS, outbound, inbound })
  const holder = spawn('unshare', [IS_ROOT ? '-n' : '-rn', 'sh', '-c', script, process.execPath, RELAYS, settings], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const complaints: string[] = []
  holder.stderr.on('data', text => complaints.push(String(text)))
  const ended = once(holder, 'close').then(() => {
    throw new Error(`the network of a pod: ${complaints.join('')}`)
  })
  ended.catch(() => undefined)
  await Promise.race([once(holder.stdout, 'data'), ended])
  return {
    process: holder.pid!,
    inbound: port => {
      const found = inbound.find(one => one.port === port)
      if (found === undefined) throw new Error(`the pod has no port ${port}`)
      return found.path
    },
    close: async () => {
      holder.stdin.end()
      await ended.catch(() => undefined)
      await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
    },
  }
}

/** Listens in a file and connects each connection with the target, as it is then. */
async function passOn(path: string, to: Reachable['to']): Promise<Server> {
  const open = new Set<{ destroy(): void }>()
  const server = createServer({ allowHalfOpen: true }, near => {
    const far = connect({ ...to(), allowHalfOpen: true })
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const one of [near, far]) {
      open.add(one)
      one.on('error', end)
      one.on('close', () => open.delete(one))
    }
    near.pipe(far)
    far.pipe(near)
  })
  await once(server.listen(path), 'listening')
  chmodSync(path, 0o777)
  const close = server.close.bind(server)
  server.close = callback => {
    for (const one of open) one.destroy()
    return close(callback)
  }
  return server
}
