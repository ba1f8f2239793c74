import type { JobName, Jobs, OpenQueue } from '../../../src/receive/queue.ts'

/** A queue that remembers what was stored, and whose store a test can break or hold up. */
export class RecordingQueue implements OpenQueue {
  readonly jobs: [JobName, unknown][] = []
  storing: () => Promise<void> = async () => undefined

  async add<N extends JobName>(name: N, data: Jobs[N]): Promise<void> {
    await this.storing()
    this.jobs.push([name, data])
  }

  async ping(): Promise<void> {
    await this.storing()
  }

  async depths(): Promise<[]> {
    return []
  }

  withLock<T>(_key: string, work: (entry: number) => Promise<T>): Promise<T> {
    return work(1)
  }

  async entries(): Promise<number> {
    return 0
  }

  work(): void {}
  async repeat(): Promise<void> {}
  async idle(): Promise<void> {}
  async close(): Promise<void> {}
}
