import type { Stage } from '../story/stage.ts'

/**
 * Everything that the App published since the requests were forgotten, but on the repository `except` itself: what it wrote to
 * GitHub, and the pages to which its checks lead.
 */
export async function outputsOf({ github }: Stage, except?: string): Promise<string> {
  const written = github.requests
    .filter(({ method, path }) => method !== 'GET' && !path.startsWith(`/repos/${except}/`))
    .map(({ body }) => JSON.stringify(body))
  const addresses = new Set(written.flatMap(body => body?.match(/http:\/\/127[^"]*?\/checks\/[^"]*/g) ?? []))
  const pages = await Promise.all([...addresses].map(async url => (await fetch(url)).text()))
  return [...written, ...pages].join('\n')
}
