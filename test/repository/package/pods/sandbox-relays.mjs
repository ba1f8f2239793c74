// The process that a pod's network belongs to, as the pause container of a runtime. It listens at the addresses that the pod may
// reach and passes connections on through sockets, in files, to this machine, and those that reach the pod to the pod. It ends with
// its input.
import { existsSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'

const { address, outbound, inbound } = JSON.parse(process.argv[2])

/** Passes what comes on; a connection that is refused is refused on the other side as well. */
function relay(listen, target) {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, near => {
      const far = connect({ ...target, allowHalfOpen: true })
      const end = () => {
        near.destroy()
        far.destroy()
      }
      near.on('error', end)
      far.on('error', end)
      far.on('connect', () => {
        near.pipe(far)
        far.pipe(near)
        near.resume()
      })
    })
    server.on('error', reject)
    server.listen(listen, resolve)
  })
}

for (const { path } of inbound) if (existsSync(path)) rmSync(path)
await Promise.all([
  ...outbound.map(({ host, port, path }) => relay({ host, port }, { path })),
  ...inbound.map(({ port, path }) => relay({ path }, { host: address, port })),
])
process.stdout.write('ready\n')
process.stdin.on('end', () => process.exit(0)).resume()
