/** What the one form of a page would send, as a browser reads it. */
interface FollowedForm {
  readonly action: URL
  readonly manifest: Readonly<Record<string, unknown>>
  /** Presses the button: where GitHub sends the browser then. */
  send(): Promise<URL>
}

/** Opens the page and reads its form. Throws where there is none, or where its manifest is no JSON. */
export async function followForm(url: string): Promise<FollowedForm> {
  const html = await (await fetch(url)).text()
  const action = /<form action="([^"]*)" method="post">/.exec(html)?.[1]
  const value = /<input type="hidden" name="manifest" value="([^"]*)">/.exec(html)?.[1]
  if (action === undefined || value === undefined) throw new Error(`no form on ${url}`)
  const target = new URL(unescaped(action))
  const manifest = unescaped(value)
  return {
    action: target,
    manifest: JSON.parse(manifest),
    send: async () => {
      const body = new URLSearchParams({ manifest })
      const answer = await fetch(target, { method: 'POST', body, redirect: 'manual' })
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`GitHub answered ${answer.status}: ${await answer.text()}`)
      return new URL(location)
    },
  }
}

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
