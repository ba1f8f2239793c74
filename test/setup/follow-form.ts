/** What the one form of a page would send, as a browser reads it. */
export interface FollowedForm {
  readonly action: URL
  readonly manifest: Readonly<Record<string, unknown>>
}

/** Opens the page and reads its form. Throws where there is none, or where its manifest is no JSON. */
export async function followForm(url: string): Promise<FollowedForm> {
  const html = await (await fetch(url)).text()
  const action = /<form action="([^"]*)" method="post">/.exec(html)?.[1]
  const value = /<input type="hidden" name="manifest" value="([^"]*)">/.exec(html)?.[1]
  if (action === undefined || value === undefined) throw new Error(`no form on ${url}`)
  return { action: new URL(unescaped(action)), manifest: JSON.parse(unescaped(value)) }
}

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
