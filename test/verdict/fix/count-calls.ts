import { Session } from 'node:inspector/promises'

/** How often functions of these names are called meanwhile, in this thread. */
export async function countCalls(names: readonly string[], run: () => unknown): Promise<readonly number[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true })
    await run()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const functions = result.flatMap(({ functions }) => functions)
    return names.map(name =>
      functions.reduce((sum, one) => sum + (one.functionName === name ? (one.ranges[0]?.count ?? 0) : 0), 0),
    )
  } finally {
    session.disconnect()
  }
}
