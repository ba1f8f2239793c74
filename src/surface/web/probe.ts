// Checks an address: `node src/surface/web/probe.ts http://127.0.0.1:3000/readyz`, the health check of the containers,
// whose image has no curl. Exit code 0: healthy.
const [url = ''] = process.argv.slice(2)
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) })
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  console.error(`${url} does not answer: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
