// How long a run has worked, by the times of its events. Milliseconds within, seconds told.

export class SearchClock {
  /** Seconds of the search at the newest node, as the search told them. */
  elapsed = 0;
  /** When its newest event was. */
  newest = 0;
  /** Earlier processes, added up; when this one began. */
  private before = 0;
  private began = 0;
  /** When the seconds of the search were last told, or this process began, and the search's newest event since. */
  private toldAt = 0;
  private searchedAt = 0;

  /** A process begins. */
  begin(at: number): void {
    this.before += this.newest - this.began;
    this.began = at;
    this.toldAt = this.searchedAt = at;
  }

  /** Any event. */
  pass(at: number): void {
    if (this.began && at) this.newest = at;
  }

  /** An event that only a search which goes on brings. */
  search(at: number): void {
    this.searchedAt = at;
  }

  /** A node tells the search's seconds. */
  tell(elapsed: number, at: number): void {
    this.elapsed = Math.max(this.elapsed, elapsed);
    this.toldAt = at || this.toldAt;
  }

  /** Seconds of the search up to its newest event, resumes added up: what is being worked on counts too. */
  get worked(): number {
    return this.elapsed + Math.max(0, this.searchedAt - this.toldAt) / 1000;
  }

  /** Seconds from the begin of each process to its last event, all added up: the search and its final part. */
  get whole(): number {
    return (this.before + this.newest - this.began) / 1000;
  }
}
