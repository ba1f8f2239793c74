import type { Processes } from './processes.ts'

/** A request to GitHub at which the worker dies. */
export interface DeathAt {
  readonly method: string
  /** How its path ends. */
  readonly end: string
  /** Whether GitHub has carried it out: the worker never learns. */
  readonly done: boolean
}

/** SIGKILL to the worker that runs when such a request arrives; resolves when it is dead. Nobody reads GitHub's answer. */
export function killedAt(app: Processes, { method, end, done }: DeathAt): Promise<void> {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  let isDead = false
  const fits = (request: { readonly method: string; readonly path: string }) =>
    request.method === method && request.path.endsWith(end)
  const release = app.github.hold(request => {
    if (!fits(request)) return false
    if (!isDead) {
      isDead = true
      app.worker.process.kill('SIGKILL')
      resolve()
    }
    return true
  })
  return sent.then(async () => {
    await app.killWorker()
    if (!done) app.github.failNext(1, 502, {}, fits)
    release()
  })
}
