const MANY = 1024

/** Puts a text of many short parts together, of which only so many are kept apart at a time. */
export class TextParts {
  private parts: string[] = []
  private whole: string

  constructor(first: string) {
    this.whole = first
  }

  push(part: string): void {
    if (this.parts.push(part) < MANY) return
    this.whole += this.parts.join('')
    this.parts = []
  }

  finish(): string {
    return this.whole + this.parts.join('')
  }
}
